/** Asks the provider for the state of the official number. */
import type { Context } from '#runtime/context'
import { type ApiError, refuse } from '#runtime/errors'
import { AccessLost } from '#runtime/ports/errors'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import { findRouteByType, type Route } from '../numbers/route.ts'
import type { NumberHealth, NumberIssue, OfficialState } from '../provider/number-port.ts'
import { readOfficial } from './read.ts'
import { applyState, lockOfficial, saveHealth } from './state.ts'

const providerTimeoutMs = 20_000
const numberIssues: readonly NumberIssue[] = [
  'token-expired',
  'number-removed',
  'account-restricted',
  'payment-issue',
]

/**
 * Applies the provider's answer: state, names, issue and limits. Runs outside a transaction. Refuses if no number is
 * connected, or if it was replaced meanwhile. If the provider does not answer, nothing changes.
 */
export async function revalidate(ctx: Context): Promise<void> {
  const connectionError = await toConnectionError(ctx)
  const route = connectionError?.credentials ? await findRouteByType(ctx, 'official') : null
  if (!connectionError || !route) throw await buildNotConnected(ctx)
  const { state, health } = await withProviderTimeout(requestState(route), providerTimeoutMs)
  await ctx.transaction(async (tx) => {
    const row = await lockOfficial(tx)
    if (!row || row.credentials !== connectionError.credentials) {
      throw refuse('conflict', 'The official number was disconnected or replaced meanwhile')
    }
    await applyState(tx, row, state)
    if (health) await saveHealth(tx, row, health, tx.now())
  })
}

/** Builds the error for a missing official number; its text depends on whether a setup is unfinished. */
async function buildNotConnected(ctx: Context): Promise<ApiError> {
  const { status, setup } = await readOfficial(ctx)
  return refuse(
    'conflict',
    status === 'setup-pending'
      ? `The setup of the official number is not finished: finish it at the provider before ${setup!.expiresAt}, or start a new one`
      : 'No official number was connected: start a setup first',
  )
}

const toConnectionError = (ctx: Context) =>
  ctx.db
    .selectFrom('messaging_connections')
    .select('credentials')
    .where('type', '=', 'official')
    .executeTakeFirst()

/** Requests the number's state, and its health unless the number has an issue. */
async function requestState({
  port,
  store,
}: Route): Promise<{ state: OfficialState; health: NumberHealth | null }> {
  try {
    const state = await port.officialState(store)
    return { state, health: state.status === 'error' ? null : await port.phoneHealth(store) }
  } catch (error) {
    // Lost access is handled as a state of the number, so that the merchant is notified of it.
    if (!(error instanceof AccessLost)) throw error
    const issue = numberIssues.find((each) => each === error.code) ?? 'token-expired'
    const unknown = { phone: '', displayName: '', displayNameStatus: null }
    return { state: { status: 'error', issue, ...unknown }, health: null }
  }
}
