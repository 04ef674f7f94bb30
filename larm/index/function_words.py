"""Function words of languages that tantivy has stems for, but no list: articles, prepositions, words that begin a question.

Constants. Measured on Arabic questions: the right page is found at a mean reciprocal rank of .925 with this list, .916 without.
tantivy's English list has 33 words, and none that a question begins with: "how do I" were three words that a page should have.
"""

from typing import Final

FUNCTION_WORDS: Final = {
    "ar": (
        "في من على إلى الى عن مع هو هي هم هذا هذه ذلك تلك التي الذي الذين ما ماذا كم متى أين اين كيف لماذا هل "
        "أو او أم ثم أن ان إن كان كانت يكون تكون لا لم لن قد بعد قبل بين كل أي اي عند منذ حتى لكن بل غير مثل "
        "كما حيث إذا اذا أيضا بها به له لها منها منه فيها فيه عليها عليه تم يتم وفي ومن وعلى وهو وهي وما وكان "
        "وكانت والتي والذي وقد ولم بأن"
    ),
    "el": (
        "ο η το οι τα του της των τον την και κι σε στο στη στην στον στα στους στις με για από απο που πως "
        "ποιο ποια ποιος ποιοι τι πότε ποτε πού πόσο πόσα πόσες είναι ειναι ήταν ηταν να θα δεν μη μην ως ή "
        "ένα μια ένας αυτό αυτή αυτός αυτά κατά μετά όταν αν αλλά όπως ότι"
    ),
    "en": (
        "a about an and any are as at be been being but by can could did do does doing for from had has have having he her "
        "his how i if in into is it its me my no not of on or our she should so some such than that the their them then there "
        "these they this those to was we were what when where which while who whom whose why will with would you your"
    ),
    "ro": (
        "si de la in cu pe din ce care cine cand unde cum cat cate cati este sunt a al ale ai un o unei unui "
        "pentru nu mai fost era erau fi prin sau dar ca sa se le lui lor dintre despre dupa fata intr intre "
        "acest aceasta acesta au am are"
    ),
    "tr": (
        "ve bir bu da de ile için ne nedir kim hangi nasıl nerede nereye kaç zaman neden mi mı mu mü olarak "
        "olan oldu olduğu idi gibi kadar daha en çok ya veya ki ama her şu o sonra önce göre"
    ),
}
"""By ISO 639-1 code, as people write them."""
