"""The version of larm; here, as parts of larm import it that `larm` itself imports."""

VERSION = "0.1.0"
