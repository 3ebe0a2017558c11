/** Giving up the official number (rule 4). */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { officialAt } from '../numbers/official-clock.ts'
import { addRelease } from '../numbers/releases.ts'
import { deselectConnection } from '../numbers/select.ts'
import { forgetAllTemplates } from '../templates/moves.ts'
import { endSetups } from './setup.ts'
import { changeOfficial, keepPinOf, lockOfficial } from './state.ts'

/**
 * In the caller's transaction: status, credentials, templates and the inbox at once; at the provider by job. Refuses
 * where there is nothing to give up.
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
  const { status } = row ? officialAt({ ...row, ...(setup ?? noSetup) }, ctx.now()) : { status: 'none' }
  if (!row || status === 'none') throw refuse('conflict', 'There is no official number to disconnect')
  await keepPinOf(ctx, row)
  const templates = await forgetAllTemplates(ctx)
  if (row.credentials || templates.length > 0) {
    const { provider, credentials, account_id: subject } = row
    await addRelease(ctx, { kind: 'official', provider, credentials, subject, templates })
  }
  await endSetups(ctx, 'disconnected')
  // The number's id stays: what became of its messages may still be told.
  await changeOfficial(ctx, {
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
  for (const told of ctx.wired.officialDisconnected) await told(ctx)
}
