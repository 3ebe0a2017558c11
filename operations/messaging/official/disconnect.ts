/** Disconnects the official number (rule 4). */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { getOfficialState } from '../numbers/official-state.ts'
import { addRelease } from '../numbers/releases.ts'
import { deselectConnection } from '../numbers/select.ts'
import { removeAllTemplates } from '../templates/transitions.ts'
import { endSetups } from './setup.ts'
import { lockOfficial, saveCurrentPin, updateOfficial } from './state.ts'

/**
 * Runs in the caller's transaction. Changes the status, credentials, templates and inbox at once; a job disconnects the
 * number at the provider. Refuses if there is nothing to disconnect.
 */
export async function disconnectOfficial(ctx: Context): Promise<void> {
  const row = await lockOfficial(ctx)
  const setup = row?.setup_id
    ? await ctx.db
        .selectFrom('messaging_setups')
        .select(['started_at', 'expires_at', 'ended_at'])
        .where('id', '=', row.setup_id)
        .executeTakeFirst()
    : undefined
  const noSetup = { started_at: null, expires_at: null, ended_at: null }
  const { status } = row ? getOfficialState({ ...row, ...(setup ?? noSetup) }, ctx.now()) : { status: 'none' }
  if (!row || status === 'none') throw refuse('conflict', 'There is no official number to disconnect')
  await saveCurrentPin(ctx, row)
  const templates = await removeAllTemplates(ctx)
  if (row.credentials || templates.length > 0) {
    const { provider, credentials, account_id: subject } = row
    await addRelease(ctx, { kind: 'official', provider, credentials, subject, templates })
  }
  await endSetups(ctx, 'disconnected')
  // The number's id stays: status events of its messages may still arrive.
  await updateOfficial(ctx, {
    status: 'none',
    credentials: null,
    account_id: null,
    phone: null,
    phone_key: null,
    display_name: null,
    display_name_status: null,
    issue_code: null,
    setup_id: null,
    connected_at: null,
    checked_at: null,
    health: null,
    health_at: null,
  })
  await deselectConnection(ctx, 'official')
  for (const handler of ctx.extensions.officialDisconnected) await handler(ctx)
}
