/** Whether the inbox is on: the merchant's switch, and an official number that is connected now. */
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'

export interface InboxState {
  /** The merchant's switch. */
  isSwitchedOn: boolean
  /** An official number is connected, selected or not. */
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

export async function stateOf(ctx: Context): Promise<InboxState> {
  const [row] = await find(ctx, {})
  return { isSwitchedOn: row!.switched, hasOfficial: row!.official }
}

export async function isReceiving(ctx: Context): Promise<boolean> {
  const { isSwitchedOn, hasOfficial } = await stateOf(ctx)
  return isSwitchedOn && hasOfficial
}

/** Refuses while the inbox is off, with the remedy. */
export async function requireInbox(ctx: Context): Promise<void> {
  const { isSwitchedOn, hasOfficial } = await stateOf(ctx)
  if (!hasOfficial) throw refuse('conflict', 'The inbox is off: connect the official number first')
  if (!isSwitchedOn) throw refuse('conflict', 'The inbox is off: turn it on first')
}
