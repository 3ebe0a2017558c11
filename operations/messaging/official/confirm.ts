/** What comes back from the provider's setup page: a number, or nothing. */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { Refusal, refuse, refuseForNow } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { seal, unseal } from '#runtime/secrets'
import { sha256 } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { templateSync } from '../handles.ts'
import { claimPhone, welcome } from '../numbers/connected.ts'
import { keepPin, pinOf } from '../numbers/pins.ts'
import { type Provider, providerNamed } from '../numbers/provider.ts'
import { addRelease } from '../numbers/releases.ts'
import { withinTime } from '../numbers/within-time.ts'
import {
  type NumberHealth,
  type OfficialNumber,
  type OfficialSetup,
  SetupQuestion,
} from '../provider/number-port.ts'
import { forgetAllTemplates } from '../templates/moves.ts'
import { changeOfficial, keepPinOf, lockOfficial, type OfficialNumberRow, takeOverHealth } from './state.ts'

export interface Confirmation {
  state: string
  /** Exactly one of these two. */
  code?: string | undefined
  error?: string | undefined
  /** What the merchant says where they were asked, or the provider's page told who opened it. */
  pin?: string | undefined
  numberId?: string | undefined
  accountId?: string | undefined
}

/** The setup waits for something that only the merchant knows: the same confirmation, with it, goes on. */
export class SetupWaits extends Refusal {
  readonly question: SetupQuestion
  constructor(question: SetupQuestion) {
    super('bad_request', `${question.field}: ${question.message}`)
    this.question = question
  }
}

const answerWithinMs = 20_000
/** A confirmation that runs longer belongs to a process that died. */
const deadAfterMs = minuteMs

/**
 * Ends a setup: with a code the number connects (or is under review), with an error the status is the one before.
 * Outside a transaction. What only the merchant knows is asked for by the name of its field. Refuses a state that is not of this store, a link that is over, a code that the provider does
 * not take (the link stays open) and a number of another store.
 */
export async function confirmSetup(ctx: Context, confirmation: Confirmation): Promise<void> {
  const { state, code, error } = confirmation
  if ((code === undefined) === (error === undefined)) {
    throw refuse('bad_request', 'code: send either code or error, as the provider handed it back')
  }
  const setup = await claimSetup(ctx, sha256(state))
  if (code === undefined) return ctx.transaction((tx) => deny(tx, setup.id))
  try {
    await connect(ctx, setup, code, answersOf(confirmation))
  } catch (failure) {
    await ctx.db
      .updateTable('messaging_setups')
      .set({ claimed_at: null })
      .where('id', '=', setup.id)
      .execute()
    throw failure
  }
}

const answersOf = ({ pin, numberId, accountId }: Confirmation): NonNullable<OfficialSetup['answers']> => ({
  ...(pin === undefined ? {} : { pin }),
  ...(numberId === undefined ? {} : { numberId }),
  ...(accountId === undefined ? {} : { accountId }),
})

interface ClaimedSetup {
  id: string
  returnUrl: string
  startedAt: Date
  /** Sealed. */
  granted: string | null
  provider: Provider
}

async function claimSetup(ctx: Context, stateHash: string): Promise<ClaimedSetup> {
  const now = ctx.now()
  const claimed = await ctx.db
    .updateTable('messaging_setups')
    .set({ claimed_at: now })
    .where('state_hash', '=', stateHash)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .where((eb) =>
      eb.or([eb('claimed_at', 'is', null), eb('claimed_at', '<=', new Date(now.getTime() - deadAfterMs))]),
    )
    .returning(['id', 'return_url', 'started_at', 'granted'])
    .executeTakeFirst()
  if (!claimed) throw await refusalOf(ctx, stateHash)
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .select('provider')
    .where('type', '=', 'official')
    .executeTakeFirstOrThrow()
  const { id, return_url: returnUrl, started_at: startedAt, granted } = claimed
  return { id, returnUrl, startedAt, granted, provider: providerNamed(ctx, row.provider) }
}

async function refusalOf(ctx: Context, stateHash: string): Promise<Error> {
  const setup = await ctx.db
    .selectFrom('messaging_setups')
    .select(['outcome', 'expires_at'])
    .where('state_hash', '=', stateHash)
    .executeTakeFirst()
  if (!setup) return refuse('not_found', 'state: is of no setup of this store')
  if (setup.outcome === 'confirmed') return refuse('conflict', 'This setup was confirmed already')
  if (setup.outcome === 'replaced') {
    return refuse('conflict', 'Another setup was started after this one: use its link')
  }
  if (setup.outcome || setup.expires_at <= ctx.now()) {
    return refuse('conflict', 'This setup is over: start a new one')
  }
  return refuseForNow('conflict', 'This setup is being confirmed at this moment')
}

async function deny(tx: Context, setupId: string): Promise<void> {
  if (await endSetup(tx, setupId, 'denied')) await changeOfficial(tx, { issue_code: 'setup-denied' })
}

/** Answers whether it was open until now. */
async function endSetup(tx: Context, id: string, outcome: 'confirmed' | 'denied'): Promise<boolean> {
  const ended = await tx.db
    .updateTable('messaging_setups')
    .set({ ended_at: tx.now(), outcome, granted: null })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return ended !== undefined
}

async function connect(
  ctx: Context,
  setup: ClaimedSetup,
  code: string,
  answers: OfficialSetup['answers'],
): Promise<void> {
  const { id: setupId, returnUrl, startedAt, provider } = setup
  const keep = (granted: unknown) => keepGranted(ctx, setupId, { of: sha256(code), granted })
  const store = { id: ctx.store.id, credentials: grantedFor(ctx, setup, code) }
  const number = await withinTime(
    provider.port.finishOfficialSetup(store, {
      code,
      returnUrl,
      startedAt,
      answers: answers ?? {},
      sharedAccounts: await accountsSharedSince(ctx, provider.name, startedAt),
      pinOf: (numberId) => pinOf(ctx, numberId),
      keepPin: (numberId, pin) => keepPin(ctx, { numberId, pin }),
      keep,
    }),
    answerWithinMs,
  ).catch(async (error: unknown) => {
    if (error instanceof SetupQuestion) {
      await keep(error.granted)
      throw new SetupWaits(error)
    }
    if (error instanceof Refused) {
      throw refuse('bad_request', `code: The provider refused it: ${error.message}`)
    }
    throw error
  })
  const health = await healthOf(ctx, provider, number)
  const refused = await ctx.transaction(async (tx) => {
    const row = await lockOfficial(tx)
    const isFree = await claimPhone(tx, number.phone)
    if (row && isFree && (await endSetup(tx, setupId, 'confirmed'))) {
      await takeNumber(tx, row, provider, number, health)
      return null
    }
    // It is ours at the provider and not here: let go of again.
    await addRelease(tx, {
      kind: 'official',
      provider: provider.name,
      credentials: sealed(tx, number.credentials),
      subject: number.accountId,
    })
    return isFree
      ? 'This setup was replaced or ended meanwhile: start a new one'
      : `${number.phone} is connected to another store: disconnect it there, or use another number`
  })
  if (refused) throw refuse('conflict', refused)
  await askForHistory(ctx, provider, number)
}

/** Of a code, which the merchant may have got anew meanwhile. */
interface Kept {
  of: string
  granted: unknown
}

/** What came of this code before. One that a setup of an earlier release keeps is of the only code there was. */
function grantedFor(ctx: Context, { granted }: ClaimedSetup, code: string): unknown {
  const kept = granted && (unseal(ctx.settings, ctx.store.id, granted) as Kept | Record<string, unknown>)
  if (!kept || !('of' in kept)) return kept || null
  return kept.of === sha256(code) ? kept.granted : null
}

/** The code was exchanged: what came of it is kept until the setup is through, as long as the link holds. */
async function keepGranted(ctx: Context, setupId: string, kept: Kept): Promise<void> {
  await ctx.db
    .updateTable('messaging_setups')
    .set({ granted: sealed(ctx, kept) })
    .where('id', '=', setupId)
    .where('ended_at', 'is', null)
    .execute()
}

const clocksDifferMs = 120_000

/** Accounts that callbacks said were shared with us, newest first: of several the one of this setup is among them. */
async function accountsSharedSince(ctx: Context, provider: string, since: Date): Promise<string[]> {
  const { rows } = await sql<{ account: string }>`select payload -> 'data' ->> 'account' as account
    from provider_events
    where id > ${lowestId(since.getTime() - clocksDifferMs)}::uuid and port = 'messaging'
      and provider = ${provider}::text and kind = 'account-shared'
    order by id desc limit 100`.execute(ctx.system)
  return rows.map((row) => row.account)
}

/** Below every id that was made from then on. */
function lowestId(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** A number goes on without it: there may be none, or the merchant does not share it. */
async function askForHistory(
  ctx: Context,
  { port }: Provider,
  { credentials }: OfficialNumber,
): Promise<void> {
  try {
    await withinTime(port.requestHistory({ id: ctx.store.id, credentials }), 8_000)
  } catch (error) {
    ctx.log.warn({ err: error }, 'the messages from before a number was connected cannot be had')
  }
}

const sealed = (ctx: Context, credentials: unknown): string =>
  seal(ctx.settings, ctx.store.id, credentials ?? null)

/** Asked on the way, for its limit; a number without an answer is asked again when it is needed. */
async function healthOf(
  ctx: Context,
  { port }: Provider,
  { credentials }: OfficialNumber,
): Promise<NumberHealth | null> {
  try {
    return await withinTime(port.phoneHealth({ id: ctx.store.id, credentials }), 5_000)
  } catch (error) {
    ctx.log.warn({ err: error }, 'the health of a new number is not known yet')
    return null
  }
}

/** Of the number that connects, and of the one before it. */
async function keepPins(
  tx: Context,
  row: OfficialNumberRow,
  { port }: Provider,
  { credentials }: OfficialNumber,
): Promise<void> {
  await keepPinOf(tx, row)
  await keepPin(tx, port.numberPin({ id: tx.store.id, credentials }))
}

async function takeNumber(
  tx: Context,
  row: OfficialNumberRow,
  provider: Provider,
  number: OfficialNumber,
  health: NumberHealth | null,
): Promise<void> {
  const { numberId, accountId, phone, displayName, ready } = number
  await keepPins(tx, row, provider, number)
  if (row.credentials && row.phone_key !== phoneKey(phone)) {
    await addRelease(tx, {
      kind: row.account_id === accountId ? 'templates' : 'official',
      provider: row.provider,
      credentials: row.credentials,
      subject: row.account_id,
      templates: await forgetAllTemplates(tx),
    })
  }
  const now = tx.now()
  await changeOfficial(tx, {
    status: ready ? 'connected' : 'verifying',
    provider: provider.name,
    credentials: sealed(tx, number.credentials),
    number_id: numberId,
    account_id: accountId,
    phone,
    phone_key: phoneKey(phone),
    display_name: displayName,
    display_name_status: ready ? 'approved' : 'pending',
    issue_code: null,
    connected_at: ready ? now : null,
    checked_at: now,
    health: null,
    health_at: null,
  })
  if (health) await takeOverHealth(tx, { ...row, number_id: numberId, phone, health: null }, health, now)
  if (ready) await welcome(tx, 'official', { phone, displayName })
  await tx.queue(templateSync, {})
}
