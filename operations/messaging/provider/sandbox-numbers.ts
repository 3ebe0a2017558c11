/**
 * Official numbers and the shared number at the sandbox's provider. The last digit of a phone decides its behaviour: 6
 * is removed at its first revalidation, 7 may write to 250 people a day, 8 has quality yellow, 9 has quality red.
 */

import type { RootDatabase } from '#db/database'
import type { Row } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { randomSecret } from '#runtime/values/ids'
import { buildAccountHook, type SignedHook, toTimestamp } from './hook-body.ts'
import { buildHealthChange, buildNameChange } from './number-hooks.ts'
import type { NumberHealth, NumberIssue, NumberPort, NumberStatus, QualityRating } from './number-port.ts'
import { withMode } from './sandbox-mode.ts'

const setupMs = 60 * minuteMs
const reviewMs = 5_000
const sharedNumber = {
  numberId: 'sandbox-shared',
  phone: '+5511900000000',
  displayName: 'Shared sandbox number',
}

export type SetupOutcome = 'approve' | 'review' | 'deny'

export interface SandboxNumberChange {
  qualityRating?: QualityRating | undefined
  messagingLimitTier?: string | undefined
  numberStatus?: NumberStatus | undefined
  displayNameStatus?: 'approved' | 'declined' | undefined
  /** False makes the next call fail; no callback is sent. */
  tokenValid?: boolean | undefined
}

type NumberRow = Row<'sandbox_numbers'>

export class SandboxNumbers
  implements
    Pick<
      NumberPort,
      | 'startOfficialSetup'
      | 'finishOfficialSetup'
      | 'officialState'
      | 'phoneHealth'
      | 'releaseOfficial'
      | 'joinShared'
      | 'leaveShared'
    >
{
  readonly #db: RootDatabase
  readonly #clock: Clock
  readonly #secret: string
  readonly #publicUrl: string
  readonly #perSecond: number

  constructor(options: {
    db: RootDatabase
    clock: Clock
    appSecret: string
    publicUrl: string
    perSecond: number
  }) {
    this.#db = options.db
    this.#clock = options.clock
    this.#secret = options.appSecret
    this.#publicUrl = options.publicUrl
    this.#perSecond = options.perSecond
  }

  startOfficialSetup: NumberPort['startOfficialSetup'] = (store, { state, returnUrl }) =>
    withMode(this.#db, store, async () => {
      const now = this.#clock.now()
      const token = randomSecret()
      await this.#db
        .updateTable('sandbox_setups')
        .set({ ends_at: now })
        .where('store_id', '=', store.id)
        .where('ends_at', '>', now)
        .execute()
      await this.#db
        .insertInto('sandbox_setups')
        .values({
          token,
          store_id: store.id,
          state,
          return_url: returnUrl,
          ends_at: new Date(now.getTime() + setupMs),
        })
        .execute()
      return { url: `${this.#publicUrl}/sandbox/messaging/setup/${token}` }
    })

  /** Whether a setup's page is open, and where it returns to; null if there never was such a setup. */
  async findSetup(token: string): Promise<{ isOpen: boolean; returnUrl: string } | null> {
    const setup = await this.#db
      .selectFrom('sandbox_setups')
      .select(['ends_at', 'outcome', 'return_url'])
      .where('token', '=', token)
      .executeTakeFirst()
    if (!setup) return null
    const isOpen = setup.outcome === null && this.#clock.now() < setup.ends_at
    return { isOpen, returnUrl: setup.return_url }
  }

  /** Records the result of the setup page. Returns null if the page has expired. `phone`: E.164. */
  async endSetup(
    token: string,
    given: { phone: string; displayName: string; outcome: SetupOutcome },
  ): Promise<{ returnUrl: string; state: string; code: string | null; error: string | null } | null> {
    const { phone, displayName, outcome } = given
    const setup = await this.#db
      .updateTable('sandbox_setups')
      .set({
        outcome,
        phone,
        display_name: displayName,
        code: outcome === 'deny' ? null : randomSecret(),
      })
      .where('token', '=', token)
      .where('outcome', 'is', null)
      .where('ends_at', '>', this.#clock.now())
      .returning(['return_url', 'state', 'code'])
      .executeTakeFirst()
    if (!setup) return null
    const { return_url: returnUrl, state, code } = setup
    return { returnUrl, state, code, error: code === null ? 'access_denied' : null }
  }

  finishOfficialSetup: NumberPort['finishOfficialSetup'] = (store, { code }) =>
    withMode(this.#db, store, async () => {
      const setup = await this.#db
        .selectFrom('sandbox_setups')
        .select(['phone', 'display_name', 'outcome'])
        .where('store_id', '=', store.id)
        .where('code', '=', code)
        .executeTakeFirst()
      if (!setup?.phone || setup.display_name === null) {
        throw new Refused('code-refused', 'The code is not one of this setup, or is no longer valid')
      }
      const { phone, display_name: displayName } = setup
      const ready = setup.outcome === 'approve'
      const readyAt = ready ? null : new Date(this.#clock.ms() + reviewMs)
      const token = await this.put(store.id, { phone, displayName, readyAt })
      return {
        credentials: { token },
        numberId: `sandbox-${store.id}`,
        accountId: toAccountId(store.id),
        phone,
        displayName,
        ready,
      }
    })

  /** Assigns a number to the store and returns its token. `readyAt`: when its review ends. */
  async put(
    storeId: string,
    number: { phone: string; displayName: string; readyAt?: Date | null },
  ): Promise<string> {
    const token = randomSecret()
    const row = {
      phone: number.phone,
      display_name: number.displayName,
      token,
      is_token_valid: true,
      ready_at: number.readyAt ?? null,
      quality: null,
      tier: null,
      number_status: null,
      name_status: 'approved',
    }
    await this.#db
      .insertInto('sandbox_numbers')
      .values({ store_id: storeId, ...row })
      .onConflict((conflict) => conflict.column('store_id').doUpdateSet(row))
      .execute()
    return token
  }

  officialState: NumberPort['officialState'] = (store) =>
    withMode(this.#db, store, async () => {
      const row = await this.#find(store.id)
      const issue = row ? findIssue(row) : 'number-removed'
      const isReviewed = row ? this.#isReady(row) : true
      return {
        status: issue ? 'error' : isReviewed ? 'connected' : 'verifying',
        issue,
        phone: row?.phone ?? '',
        displayName: row?.display_name ?? '',
        displayNameStatus: row
          ? isReviewed
            ? (row.name_status as 'approved' | 'declined')
            : 'pending'
          : null,
      }
    })

  phoneHealth: NumberPort['phoneHealth'] = (store) =>
    withMode(this.#db, store, async () => {
      const row = await this.#find(store.id)
      if (!row?.is_token_valid) throw new Unavailable('no', 'The token is no longer valid')
      return this.#healthOf(row)
    })

  releaseOfficial: NumberPort['releaseOfficial'] = (store) =>
    withMode(this.#db, store, async () => {
      const { token } = (store.credentials ?? {}) as { token?: string }
      await this.#db
        .deleteFrom('sandbox_numbers')
        .where('store_id', '=', store.id)
        .where('token', '=', token ?? '')
        .execute()
    })

  joinShared: NumberPort['joinShared'] = (store) => withMode(this.#db, store, async () => sharedNumber)
  leaveShared: NumberPort['leaveShared'] = (store) => withMode(this.#db, store, async () => {})

  /** Simulates a change by the provider. Returns the signed body, or null if the store has no number. */
  async change(storeId: string, change: SandboxNumberChange): Promise<SignedHook | null> {
    const { qualityRating, messagingLimitTier, numberStatus, displayNameStatus, tokenValid } = change
    const row = await this.#db
      .updateTable('sandbox_numbers')
      .set((eb) => ({
        quality: qualityRating ?? eb.ref('quality'),
        tier: messagingLimitTier ?? eb.ref('tier'),
        number_status: numberStatus ?? eb.ref('number_status'),
        name_status: displayNameStatus ?? eb.ref('name_status'),
        is_token_valid: tokenValid ?? eb.ref('is_token_valid'),
        ready_at:
          numberStatus === 'connected' || displayNameStatus === 'approved' ? null : eb.ref('ready_at'),
      }))
      .where('store_id', '=', storeId)
      .returningAll()
      .executeTakeFirst()
    if (!row) return null
    const { phone, display_name: displayName } = row
    const changes = []
    if (qualityRating || messagingLimitTier || numberStatus) {
      changes.push(
        buildHealthChange({
          phone,
          qualityRating: qualityRating ?? null,
          numberStatus: numberStatus ?? null,
          messagingLimitTier: messagingLimitTier ?? null,
        }),
      )
    }
    if (displayNameStatus) changes.push(buildNameChange({ phone, displayName, status: displayNameStatus }))
    return buildAccountHook(this.#secret, toAccountId(storeId), toTimestamp(this.#clock.now()), changes)
  }

  #find(storeId: string): Promise<NumberRow | undefined> {
    return this.#db
      .selectFrom('sandbox_numbers')
      .selectAll()
      .where('store_id', '=', storeId)
      .executeTakeFirst()
  }

  #isReady = (row: NumberRow): boolean => row.ready_at === null || row.ready_at <= this.#clock.now()

  #healthOf(row: NumberRow): NumberHealth {
    const last = row.phone.at(-1)!
    const pending = this.#isReady(row) ? null : 'pending'
    return {
      qualityRating: (row.quality ?? { 8: 'yellow', 9: 'red' }[last] ?? 'green') as QualityRating,
      numberStatus: (row.number_status ??
        pending ??
        (last === '9' ? 'flagged' : 'connected')) as NumberStatus,
      messagingLimitTier: row.tier ?? (last === '7' ? 'tier-250' : 'tier-2k'),
      throughput: this.#perSecond,
    }
  }
}

const toAccountId = (storeId: string): string => `sandbox-account-${storeId}`

function findIssue(row: NumberRow): NumberIssue | null {
  if (!row.is_token_valid) return 'token-expired'
  if (row.phone.endsWith('6')) return 'number-removed'
  if (row.number_status === 'banned') return 'account-restricted'
  // A name that is declined later does not stop the number, which keeps its old name.
  return row.name_status === 'declined' && row.ready_at !== null ? 'display-name-declined' : null
}
