/** Reads whether the inbox is on: the merchant has turned it on, and an official number is connected. */
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'

export interface InboxState {
  /** Whether the merchant has turned the inbox on. */
  isSwitchedOn: boolean
  /** Whether an official number is connected, even if another connection is selected. */
  hasOfficial: boolean
}

const find = prepared<object, { switched: boolean; official: boolean }>((db) =>
  db.selectNoFrom((eb) => [
    eb
      .exists(eb.selectFrom('inbox_settings').select('store_id').where('is_enabled', '=', true))
      .$castTo<boolean>()
      .as('switched'),
    eb
      .exists(
        eb
          .selectFrom('messaging_connections')
          .select('type')
          .where('type', '=', 'official')
          .where('status', '=', 'connected'),
      )
      .$castTo<boolean>()
      .as('official'),
  ]),
)

export async function readInboxState(ctx: Context): Promise<InboxState> {
  const [row] = await find(ctx, {})
  return { isSwitchedOn: row!.switched, hasOfficial: row!.official }
}

export async function isReceiving(ctx: Context): Promise<boolean> {
  const { isSwitchedOn, hasOfficial } = await readInboxState(ctx)
  return isSwitchedOn && hasOfficial
}

/** Throws `conflict` while the inbox is off, with a message that says how to turn it on. */
export async function requireInbox(ctx: Context): Promise<void> {
  const { isSwitchedOn, hasOfficial } = await readInboxState(ctx)
  if (!hasOfficial) throw refuse('conflict', 'The inbox is off: connect the official number first')
  if (!isSwitchedOn) throw refuse('conflict', 'The inbox is off: turn it on first')
}
