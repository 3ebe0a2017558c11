/** Completes a setup with the result of the provider's setup page: connects the number, or records the cancellation. */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { ApiError, refuse, refuseTemporarily } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { seal, unseal } from '#runtime/secrets'
import { sha256 } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { templateSync } from '../handles.ts'
import { announceNumber, claimPhone } from '../numbers/connected.ts'
import { readPin, savePin } from '../numbers/pins.ts'
import { getProvider, type Provider } from '../numbers/provider.ts'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import { addRelease } from '../numbers/releases.ts'
import {
  type NumberHealth,
  type OfficialNumber,
  type OfficialSetup,
  SetupQuestion,
} from '../provider/number-port.ts'
import { removeAllTemplates } from '../templates/transitions.ts'
import { lockOfficial, type OfficialNumberRow, saveCurrentPin, saveHealth, updateOfficial } from './state.ts'

export interface Confirmation {
  state: string
  /** Exactly one of `code` and `error`. */
  code?: string | undefined
  error?: string | undefined
  /**
   * `pin`, `numberId` and `accountId` are the merchant's answers to questions of the setup, or what the provider's page
   * reported to the window that opened it.
   */
  pin?: string | undefined
  numberId?: string | undefined
  accountId?: string | undefined
}

/** The setup needs an answer from the merchant: the same confirmation with that answer continues it. */
export class SetupQuestionError extends ApiError {
  readonly question: SetupQuestion
  constructor(question: SetupQuestion) {
    super('bad_request', `${question.field}: ${question.message}`)
    this.question = question
  }
}

const providerTimeoutMs = 20_000
/** A confirmation that takes longer belongs to a dead process. */
const deadAfterMs = minuteMs

/**
 * Ends a setup: with a code the number connects (or is under review), with an error the previous status applies. Runs
 * outside a transaction. Throws a `SetupQuestionError` if the merchant has to answer a question. Refuses a state of
 * another store, an expired link, a code that the provider rejects (the link stays open) and a number of another store.
 */
export async function confirmSetup(ctx: Context, confirmation: Confirmation): Promise<void> {
  const { state, code, error } = confirmation
  if ((code === undefined) === (error === undefined)) {
    throw refuse('bad_request', 'code: send either code or error, as the provider handed it back')
  }
  const setup = await claimSetup(ctx, sha256(state))
  if (code === undefined) return ctx.transaction((tx) => deny(tx, setup.id))
  try {
    await connect(ctx, setup, code, readAnswers(confirmation))
  } catch (failure) {
    await ctx.db
      .updateTable('messaging_setups')
      .set({ claimed_at: null })
      .where('id', '=', setup.id)
      .execute()
    throw failure
  }
}

const readAnswers = ({ pin, numberId, accountId }: Confirmation): NonNullable<OfficialSetup['answers']> => ({
  ...(pin === undefined ? {} : { pin }),
  ...(numberId === undefined ? {} : { numberId }),
  ...(accountId === undefined ? {} : { accountId }),
})

interface ClaimedSetup {
  id: string
  returnUrl: string
  startedAt: Date
  /** The encrypted `SavedGrant`. */
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
  if (!claimed) throw await toApiError(ctx, stateHash)
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .select('provider')
    .where('type', '=', 'official')
    .executeTakeFirstOrThrow()
  const { id, return_url: returnUrl, started_at: startedAt, granted } = claimed
  return { id, returnUrl, startedAt, granted, provider: getProvider(ctx, row.provider) }
}

async function toApiError(ctx: Context, stateHash: string): Promise<Error> {
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
  return refuseTemporarily('conflict', 'This setup is being confirmed at this moment')
}

async function deny(tx: Context, setupId: string): Promise<void> {
  if (await endSetup(tx, setupId, 'denied')) await updateOfficial(tx, { issue_code: 'setup-denied' })
}

/** Ends the setup. Returns whether it was still open. */
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
  const keep = (granted: unknown) => saveGrant(ctx, setupId, { of: sha256(code), granted })
  const store = { id: ctx.store.id, credentials: findGrant(ctx, setup, code) }
  const number = await withProviderTimeout(
    provider.port.finishOfficialSetup(store, {
      code,
      returnUrl,
      startedAt,
      answers: answers ?? {},
      sharedAccounts: await findSharedAccounts(ctx, provider.name, startedAt),
      findPin: (numberId) => readPin(ctx, numberId),
      savePin: (numberId, pin) => savePin(ctx, { numberId, pin }),
      saveGrant: keep,
    }),
    providerTimeoutMs,
  ).catch(async (error: unknown) => {
    if (error instanceof SetupQuestion) {
      await keep(error.granted)
      throw new SetupQuestionError(error)
    }
    if (error instanceof Refused) {
      throw refuse('bad_request', `code: The provider refused it: ${error.message}`)
    }
    throw error
  })
  const health = await readHealth(ctx, provider, number)
  const refused = await ctx.transaction(async (tx) => {
    const row = await lockOfficial(tx)
    const isFree = await claimPhone(tx, number.phone)
    if (row && isFree && (await endSetup(tx, setupId, 'confirmed'))) {
      await claimNumber(tx, row, provider, number, health)
      return null
    }
    // The number is connected at the provider, but not stored here: release it again.
    await addRelease(tx, {
      kind: 'official',
      provider: provider.name,
      credentials: sealCredentials(tx, number.credentials),
      subject: number.accountId,
    })
    return isFree
      ? 'This setup was replaced or ended meanwhile: start a new one'
      : `${number.phone} is connected to another store: disconnect it there, or use another number`
  })
  if (refused) throw refuse('conflict', refused)
  await requestHistory(ctx, provider, number)
}

/** The grant that one code was exchanged for; the merchant may have obtained another code since. `of`: the code's hash. */
interface SavedGrant {
  of: string
  granted: unknown
}

/** Returns the saved grant of this code, or null. Earlier versions of this software saved a grant without its code. */
function findGrant(ctx: Context, { granted }: ClaimedSetup, code: string): unknown {
  const grant =
    granted && (unseal(ctx.settings, ctx.store.id, granted) as SavedGrant | Record<string, unknown>)
  if (!grant || !('of' in grant)) return grant || null
  return grant.of === sha256(code) ? grant.granted : null
}

/** Saves the grant of an exchanged code until the setup ends. Does nothing if the setup has ended already. */
async function saveGrant(ctx: Context, setupId: string, grant: SavedGrant): Promise<void> {
  await ctx.db
    .updateTable('messaging_setups')
    .set({ granted: sealCredentials(ctx, grant) })
    .where('id', '=', setupId)
    .where('ended_at', 'is', null)
    .execute()
}

const clockSkewMs = 120_000

/** Accounts that callbacks reported as shared with us, newest first; the one of this setup is among them. */
async function findSharedAccounts(ctx: Context, provider: string, since: Date): Promise<string[]> {
  const { rows } = await sql<{ account: string }>`select payload -> 'data' ->> 'account' as account
    from provider_events
    where id > ${toLowestId(since.getTime() - clockSkewMs)}::uuid and port = 'messaging'
      and provider = ${provider}::text and kind = 'account-shared'
    order by id desc limit 100`.execute(ctx.system)
  return rows.map((row) => row.account)
}

/** Returns the lowest id (UUIDv7) that can be created from this time on. */
function toLowestId(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** Requests the history. Errors are only logged, because the number works without it. */
async function requestHistory(
  ctx: Context,
  { port }: Provider,
  { credentials }: OfficialNumber,
): Promise<void> {
  try {
    await withProviderTimeout(port.requestHistory({ id: ctx.store.id, credentials }), 8_000)
  } catch (error) {
    ctx.log.warn({ err: error }, 'message history request failed')
  }
}

const sealCredentials = (ctx: Context, credentials: unknown): string =>
  seal(ctx.settings, ctx.store.id, credentials ?? null)

/** Reads the number's health now, because it contains the messaging limit. If the provider does not answer, it is read later. */
async function readHealth(
  ctx: Context,
  { port }: Provider,
  { credentials }: OfficialNumber,
): Promise<NumberHealth | null> {
  try {
    return await withProviderTimeout(port.phoneHealth({ id: ctx.store.id, credentials }), 5_000)
  } catch (error) {
    ctx.log.warn({ err: error }, 'health of the new number unavailable')
    return null
  }
}

/** Saves the PINs of the new number and of the previous one. */
async function savePins(
  tx: Context,
  row: OfficialNumberRow,
  { port }: Provider,
  { credentials }: OfficialNumber,
): Promise<void> {
  await saveCurrentPin(tx, row)
  await savePin(tx, port.numberPin({ id: tx.store.id, credentials }))
}

async function claimNumber(
  tx: Context,
  row: OfficialNumberRow,
  provider: Provider,
  number: OfficialNumber,
  health: NumberHealth | null,
): Promise<void> {
  const { numberId, accountId, phone, displayName, ready } = number
  await savePins(tx, row, provider, number)
  if (row.credentials && row.phone_key !== phoneKey(phone)) {
    await addRelease(tx, {
      kind: row.account_id === accountId ? 'templates' : 'official',
      provider: row.provider,
      credentials: row.credentials,
      subject: row.account_id,
      templates: await removeAllTemplates(tx),
    })
  }
  const now = tx.now()
  await updateOfficial(tx, {
    status: ready ? 'connected' : 'verifying',
    provider: provider.name,
    credentials: sealCredentials(tx, number.credentials),
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
  if (health) await saveHealth(tx, { ...row, number_id: numberId, phone, health: null }, health, now)
  if (ready) await announceNumber(tx, 'official', { phone, displayName })
  await tx.queue(templateSync, {})
}
