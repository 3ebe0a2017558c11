import { type Kysely, sql } from 'kysely'

/** The outbox of the sandbox's mail. */
// biome-ignore lint/suspicious/noExplicitAny: a migration knows no tables but its own
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // `sequence` orders mails of the same instant, when tests freeze the clock.
  `create table sandbox_mail (
    id uuid primary key, sequence bigint generated always as identity, store_id uuid,
    to_address text not null, from_address text, reply_to text, subject text not null,
    html text not null, text text not null, headers jsonb not null, attachments jsonb not null,
    idempotency_key text not null unique, calls integer not null default 1,
    sent_at timestamptz not null)`,
  `create index sandbox_mail_newest on sandbox_mail (sent_at desc, sequence desc)`,
  `create index sandbox_mail_to on sandbox_mail (lower(to_address), sent_at desc)`,
  `create table sandbox_mail_attachments (
    mail_id uuid not null references sandbox_mail on delete cascade, position integer not null,
    content bytea not null, primary key (mail_id, position))`,
]
