/** The setup link with which a merchant connects an official number. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { randomSecret, sha256 } from '#runtime/values/ids'
import { getDefaultProvider } from '../numbers/provider.ts'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'

const setupTtlMs = 60 * minuteMs
const providerTimeoutMs = 8_000

export interface OpenedSetup {
  setupUrl: string
  expiresAt: string
  status: 'setup-pending'
}

/**
 * Opens a setup for 60 minutes and ends older ones. Runs outside a transaction. `returnUrl`: where the provider sends
 * the merchant afterwards. Refuses another host, and a number that is connected or under review.
 */
export async function startSetup(ctx: Context, returnUrl: string | undefined): Promise<OpenedSetup> {
  const backTo = returnUrl ?? `${ctx.settings.publicUrl}/messaging/return`
  if (!isOwnAddress(ctx, backTo)) {
    throw refuse(
      'bad_request',
      "returnUrl: must be an https address of this server's or the store's own host, or http on localhost",
    )
  }
  await refuseConnected(ctx)
  const { name, port } = getDefaultProvider(ctx)
  const state = randomSecret()
  const store = { id: ctx.store.id, credentials: null }
  const startedAt = ctx.now()
  const { url } = await withProviderTimeout(
    port.startOfficialSetup(store, { state, returnUrl: backTo }),
    providerTimeoutMs,
  )
  const expiresAt = new Date(startedAt.getTime() + setupTtlMs)
  await ctx.transaction((tx) => openSetup(tx, { name, state, returnUrl: backTo, startedAt, expiresAt }))
  return { setupUrl: url, expiresAt: expiresAt.toISOString(), status: 'setup-pending' }
}

async function refuseConnected(ctx: Context): Promise<void> {
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .select('status')
    .where('type', '=', 'official')
    .executeTakeFirst()
  if (row?.status === 'connected' || row?.status === 'verifying') {
    throw refuse('conflict', `An official number is ${row.status} already: disconnect it first`)
  }
}

async function openSetup(
  tx: Context,
  setup: { name: string; state: string; returnUrl: string; startedAt: Date; expiresAt: Date },
): Promise<void> {
  const { name, state, returnUrl, startedAt, expiresAt } = setup
  await tx.lockStore()
  await refuseConnected(tx)
  await endSetups(tx, 'replaced')
  const id = tx.newId()
  await tx.db
    .insertInto('messaging_setups')
    .values({
      id,
      state_hash: sha256(state),
      return_url: returnUrl,
      started_at: startedAt,
      expires_at: expiresAt,
    })
    .execute()
  const now = tx.now()
  await tx.db
    .insertInto('messaging_connections')
    .values({
      type: 'official',
      status: 'none',
      provider: name,
      setup_id: id,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'type']).doUpdateSet((eb) => ({
        setup_id: id,
        // Clears the result of an earlier setup, but not an issue of the number itself.
        issue_code: eb
          .case()
          .when('messaging_connections.issue_code', 'in', ['setup-denied', 'setup-expired'])
          .then(null)
          .else(eb.ref('messaging_connections.issue_code'))
          .end(),
        updated_at: now,
      })),
    )
    .execute()
}

/** Ends every open setup; their links become invalid. */
export async function endSetups(
  tx: Context,
  outcome: 'replaced' | 'disconnected' | 'recovered',
): Promise<void> {
  await tx.db
    .updateTable('messaging_setups')
    .set({ ended_at: tx.now(), outcome, granted: null })
    .where('ended_at', 'is', null)
    .execute()
}

/** Whether the address is on this server's or the store's host: it receives the setup's secret state. */
function isOwnAddress(ctx: Context, address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || url.username || url.password || url.hash) return false
  if (url.protocol === 'http:') return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  const hosts = [new URL(ctx.settings.publicUrl).host, ctx.store.domain.toLowerCase()]
  return url.protocol === 'https:' && hosts.includes(url.host)
}
