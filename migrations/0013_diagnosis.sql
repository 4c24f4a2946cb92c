-- stepwise, because requests lock the two tables in an order of their own. Why a message failed, in the words of the mail server:
-- the diagnosis of a bounce, or the reply that refused a recipient. It may name a person, so it is kept sealed, with the message.
alter table states add column if not exists diagnosis bytea;
-- next
-- Only until the receipt is applied.
alter table receipts add column if not exists diagnosis bytea;
