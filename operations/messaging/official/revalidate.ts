/** Asking the provider how the official number stands. */
import type { Context } from '#runtime/context'
import { type Refusal, refuse } from '#runtime/errors'
import { AccessLost } from '#runtime/ports/errors'
import { type Route, routeOfType } from '../numbers/route.ts'
import { withinTime } from '../numbers/within-time.ts'
import type { NumberHealth, NumberIssue, OfficialState } from '../provider/number-port.ts'
import { readOfficial } from './read.ts'
import { lockOfficial, takeOverHealth, takeOverState } from './state.ts'

const answerWithinMs = 20_000
const numberIssues: readonly NumberIssue[] = [
  'token-expired',
  'number-removed',
  'account-restricted',
  'payment-issue',
]

/**
 * Takes over what the provider says of state, names, issue and limits. Outside a transaction. Refuses where no number
 * was connected, or another one was meanwhile; a provider that does not answer changes nothing.
 */
export async function revalidate(ctx: Context): Promise<void> {
  const asked = await connectionOf(ctx)
  const route = asked?.credentials ? await routeOfType(ctx, 'official') : null
  if (!asked || !route) throw await notConnected(ctx)
  const { state, health } = await withinTime(ask(route), answerWithinMs)
  await ctx.transaction(async (tx) => {
    const row = await lockOfficial(tx)
    if (!row || row.credentials !== asked.credentials) {
      throw refuse('conflict', 'The official number was disconnected or replaced meanwhile')
    }
    await takeOverState(tx, row, state)
    if (health) await takeOverHealth(tx, row, health, tx.now())
  })
}

/** Told apart: a setup that waits to be finished, and none. */
async function notConnected(ctx: Context): Promise<Refusal> {
  const { status, setup } = await readOfficial(ctx)
  return refuse(
    'conflict',
    status === 'setup-pending'
      ? `The setup of the official number is not finished: finish it at the provider before ${setup!.expiresAt}, or start a new one`
      : 'No official number was connected: start a setup first',
  )
}

const connectionOf = (ctx: Context) =>
  ctx.db
    .selectFrom('messaging_connections')
    .select('credentials')
    .where('type', '=', 'official')
    .executeTakeFirst()

/** A number in trouble has no health that could be asked for. */
async function ask({ port, store }: Route): Promise<{ state: OfficialState; health: NumberHealth | null }> {
  try {
    const state = await port.officialState(store)
    return { state, health: state.status === 'error' ? null : await port.phoneHealth(store) }
  } catch (error) {
    // Access that is gone is a state too: the merchant is told of it.
    if (!(error instanceof AccessLost)) throw error
    const issue = numberIssues.find((each) => each === error.code) ?? 'token-expired'
    const unknown = { phone: '', displayName: '', displayNameStatus: null }
    return { state: { status: 'error', issue, ...unknown }, health: null }
  }
}
