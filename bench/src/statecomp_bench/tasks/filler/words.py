"""Sentences as they stand in notes, mails and tickets; slots are filled from the rng.

No quotation marks: tasks put them into programs.
"""

from __future__ import annotations

from random import Random

from statecomp_bench.tasks.invented import FIRST, LAST, NOUNS

SENTENCES = (
    "{Who} moved the review of the {thing} to {day} because {who2} is away.",
    "I had a look at ticket {ticket}; it is the same question as last {month}.",
    "Still waiting for an answer from the supplier, last try was {day} {clock}.",
    "The copy in the {thing} folder is older than the one {who2} sent round.",
    "Please do not forward this, the figures are from before the audit.",
    "Closed, see {ticket}. If it comes up again, reopen that one and not this.",
    "Not sure who owns the {thing} list nowadays, used to be {who}.",
    "{Who} asked twice whether the {thing} page can go; nobody answered so far.",
    "We agreed on the phone to leave it as it is until {month}.",
    "Printed {n} copies, {who2} has the rest in the cupboard behind the desk.",
    "cc {who2}, who was there when we tried this in {month}.",
    "Thanks for the quick reply. I will be back on {day} and go through the rest then.",
    "Draft {n} is obsolete, the current one has the grey cover.",
    "As far as I remember the {thing} numbers were rounded, so do not add them up.",
    "The room for {day} is booked until {clock}, after that the choir is in there.",
    "Rescheduled from {day} to the week after, same agenda, same dial-in.",
    "{Who} found a typing error on page {n} and corrected it by hand.",
    "Nothing to do here, keeping it for the record.",
    "Works for me. {Who} wanted to have a second look at the {thing} part.",
    "The intern counted them again and came to {n}, which is close enough.",
    "Can somebody tell me where the old {thing} binder went? Shelf {n} is empty.",
    "Same as in {month}: first the form, then the stamp, then the form again.",
    "If the {thing} scanner jams, open flap two and wait for the green light.",
    "{Who} thinks this can wait, {who2} thinks it cannot, so it is on the list for {day}.",
    "Update: the parcel with the {thing} samples came back, address unknown.",
    "Moved to the archive after {n} days without a reply.",
    "See also the thread with the subject Re: Re: {thing}, third mail from below.",
    "Spell checker off, names of places are meant to be like this.",
)
TAILS = (
    "as discussed with {who2}",
    "see {ticket}",
    "since {month}",
    "until {day}",
    "for the {thing} team",
    "{n} left",
    "nothing new",
    "no reply yet",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MONTHS = ("January", "March", "April", "June", "August", "September", "October", "November")


def sentence(rng: Random) -> str:
    return filled(rng, rng.choice(SENTENCES))


def tail(rng: Random) -> str:
    return filled(rng, rng.choice(TAILS))


def filled(rng: Random, text: str) -> str:
    who, who2 = rng.sample(FIRST, 2)
    return text.format(
        Who=who,
        who=who,
        who2=f"{who2} {rng.choice(LAST)}",
        thing=rng.choice(NOUNS),
        ticket=f"T-{rng.randrange(1000, 9999)}",
        day=rng.choice(DAYS),
        month=rng.choice(MONTHS),
        clock=f"{rng.randrange(7, 19):02d}:{rng.randrange(0, 60, 5):02d}",
        n=rng.randrange(3, 400),
    )
