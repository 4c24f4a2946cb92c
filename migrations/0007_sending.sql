-- Whether this database sends. A restored copy must not, until an operator has said what its original had sent already.
create table sending (
  one boolean primary key default true check (one),
  -- Which database this was written in: in a copy made by dump and restore it does not fit any more.
  database text not null,
  held_since timestamptz,
  reason text check (reason in ('restored', 'asked')),
  check ((held_since is null) = (reason is null))
);
