import { type Generated, type JSONColumnType, type Kysely, sql } from 'kysely'
import { newId } from '#runtime/values/ids'
import { Refused, Unavailable } from '../errors.ts'
import { buildMessageId, checkRecipient, type MailPort } from './port.ts'

interface StoredAttachment {
  fileName: string
  contentType: string
  /** In bytes. */
  size: number
  /** Identifies the attachment: `<mail id>/<position>`. */
  key: string
}

/** The tables of `db/migrations/0002-sandbox-mail.ts`. */
export interface SandboxMailTables {
  sandbox_mail: {
    id: string
    sequence: Generated<number>
    store_id: string | null
    to_address: string
    from_address: string | null
    reply_to: string | null
    subject: string
    html: string
    text: string
    headers: JSONColumnType<Record<string, string>>
    attachments: JSONColumnType<StoredAttachment[]>
    idempotency_key: string
    calls: Generated<number>
    sent_at: Date
  }
  sandbox_mail_attachments: { mail_id: string; position: number; content: Uint8Array }
}

type MailDatabase = Kysely<SandboxMailTables>

/** A stored mail. `calls`: how often it was sent with its key; `sentAt`: the first time. */
export interface SandboxMail {
  id: string
  storeId: string | null
  to: string
  from: string | null
  replyTo: string | null
  subject: string
  text: string
  html: string
  headers: Record<string, string>
  attachments: { fileName: string; contentType: string; size: number; content: Uint8Array }[]
  idempotencyKey: string
  calls: number
  sentAt: Date
}

/**
 * The sandbox's mail provider, which only stores mail, one row per idempotency key. It refuses an address with
 * `+bounce`, and fails as if there were no server for one with `+down`. `storeId` is stored with the mail, to list mail
 * by store.
 */
export function sandboxMail(options: {
  db: MailDatabase
  clock: { now(): Date }
  storeId?: string
}): MailPort {
  const { db, clock, storeId = null } = options
  return {
    check: async () => [{ code: 'sandbox', isFine: true, message: 'Mail is kept here and goes nowhere' }],
    async send(mail) {
      checkRecipient(mail.to)
      const [name = ''] = mail.to.toLowerCase().split('@')
      if (name.includes('+bounce'))
        throw new Refused('recipient-refused', 'The mail server refused the address')
      if (name.includes('+down')) throw new Unavailable('no', 'The mail server does not answer')
      const sentAt = clock.now()
      const id = newId(sentAt.getTime())
      const attachments = mail.attachments ?? []
      await db.transaction().execute(async (tx) => {
        const stored = await tx
          .insertInto('sandbox_mail')
          .values({
            id,
            store_id: mail.storeId ?? storeId,
            to_address: mail.to,
            from_address: mail.from ?? null,
            reply_to: mail.replyTo ?? null,
            subject: mail.subject,
            html: mail.html,
            text: mail.text,
            headers: JSON.stringify(mail.headers ?? {}),
            attachments: JSON.stringify(
              attachments.map(({ fileName, contentType, content }, position) => {
                return { fileName, contentType, size: content.byteLength, key: `${id}/${position}` }
              }),
            ),
            idempotency_key: mail.idempotencyKey,
            sent_at: sentAt,
          })
          .onConflict((conflict) =>
            conflict.column('idempotency_key').doUpdateSet({ calls: sql<number>`sandbox_mail.calls + 1` }),
          )
          .returning('id')
          .executeTakeFirstOrThrow()
        if (stored.id !== id || attachments.length === 0) return
        await tx
          .insertInto('sandbox_mail_attachments')
          .values(attachments.map(({ content }, position) => ({ mail_id: id, position, content })))
          .execute()
      })
      return { messageId: buildMessageId(mail.idempotencyKey, 'sandbox.invalid') }
    },
  }
}

/** Lists the sent mail, newest first. `to` is compared without case. */
export async function listSandboxMail(
  db: MailDatabase,
  { to, storeId, limit = 100 }: { to?: string; storeId?: string; limit?: number } = {},
): Promise<SandboxMail[]> {
  let query = db.selectFrom('sandbox_mail').selectAll()
  if (to !== undefined) query = query.where(sql`lower(to_address)`, '=', to.trim().toLowerCase())
  if (storeId !== undefined) query = query.where('store_id', '=', storeId)
  const rows = await query.orderBy('sent_at', 'desc').orderBy('sequence', 'desc').limit(limit).execute()
  const contents = await readContents(
    db,
    rows.filter((row) => row.attachments.length > 0).map((row) => row.id),
  )
  return rows.map((row) => ({
    id: row.id,
    storeId: row.store_id,
    to: row.to_address,
    from: row.from_address,
    replyTo: row.reply_to,
    subject: row.subject,
    text: row.text,
    html: row.html,
    headers: row.headers,
    attachments: row.attachments.map(({ fileName, contentType, size, key }) => ({
      fileName,
      contentType,
      size,
      content: contents.get(key) ?? new Uint8Array(),
    })),
    idempotencyKey: row.idempotency_key,
    calls: row.calls,
    sentAt: row.sent_at,
  }))
}

/** Reads the bytes of the mails' attachments, by `<mail id>/<position>`. */
async function readContents(db: MailDatabase, mailIds: string[]): Promise<Map<string, Uint8Array>> {
  if (mailIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('sandbox_mail_attachments')
    .selectAll()
    .where('mail_id', 'in', mailIds)
    .execute()
  return new Map(rows.map((row) => [`${row.mail_id}/${row.position}`, row.content]))
}
