"""Records without a model: unwrap, cut into units that stand alone, rank, choose, compose.

An answer on its way into a record, and the file or folder where each turn of it is taken:

1. The answer.  `unwrap` takes off what a client put around it; `markup/` reads pages as what they
   say; `reading/window` reads listings and screens, `decode` data, `listing/outlines` settings.
2. Pieces.  `cut` sees what a text is and hands it on: to `objects` (data), to `code` (programs and
   diffs), to `reading/snapshot` and `reading/page` (pages with marks), else to `prose`, for which
   `listing/` finds fields, tables and cards.  What says nothing was left out by `reading/noise`.
   Lines that differ in figures alone are a run (`listing/alike`), of which the ends are shown.
3. What a piece is of.  `pieces` has the values: a `Piece`, its `Form` and its `Owner`.  What stands
   deeper is of what stands above it: `reading/nesting` for all, `reading/layout` for prose.  An
   object is called by `reading/naming`; things of one kind are rows by `listing/columns`.
4. Units.  `units` puts the pieces of a span's steps into their places, once for each step; sent
   words, too, with `arguments`, and with `said` what the agent stated and what it meant to do.
   `reading/lasting` and `reading/misleading` take some out.
5. A line a step.  `ending` says how it ended (`reading/faults` where a program failed),
   `reading/actions` what it did (`reading/calls` and `reading/programs` in short), `reading/size`
   and `reading/results` what came of it, `showing/views` what it was for and what the agent made
   of it; `steps` makes one line of that.
6. Choosing.  `order/chances` says how likely each unit is needed, with the rest of `order/`;
   `draft` takes what fits and is worth it.
7. Writing.  `compose` with `showing/` and `gaps` writes what was chosen below its step, and names
   what is missing.

`records/extract` goes this way from end to end; `records/verify` looks over what came of it.
What a later turn needs to know of a step or a unit by itself is kept with it: `of_step`, `alone`.
"""
