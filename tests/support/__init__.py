"""What tests share: generated webs, broken disks, a bus within a process."""
