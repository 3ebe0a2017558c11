/** Phones linked by QR code at the sandbox's provider. */
import type { RootDatabase } from '#db/database'
import type { Clock } from '#runtime/clock'
import { Refused } from '#runtime/ports/errors'
import { randomSecret } from '#runtime/values/ids'
import { buildAccountHook, type SignedHook, toTimestamp } from './hook-body.ts'
import { buildQrChange } from './number-hooks.ts'
import type { NumberPort, QrSessionData } from './number-port.ts'
import { getCodeStart, qrCodes } from './qr-times.ts'
import { withMode } from './sandbox-mode.ts'

export class SandboxQr implements Pick<NumberPort, 'startQr' | 'refreshQr' | 'stopQr'> {
  readonly #db: RootDatabase
  readonly #clock: Clock
  readonly #secret: string

  constructor(options: { db: RootDatabase; clock: Clock; appSecret: string }) {
    this.#db = options.db
    this.#clock = options.clock
    this.#secret = options.appSecret
  }

  startQr: NumberPort['startQr'] = (store) =>
    withMode(this.#db, store, async () => {
      const sessionRef = randomSecret()
      await this.#endCodes(store.id)
      const session = { session_ref: sessionRef, phone: null, name: null, is_linked: false }
      await this.#db
        .insertInto('sandbox_qr_links')
        .values({ store_id: store.id, ...session })
        .onConflict((conflict) => conflict.column('store_id').doUpdateSet(session))
        .execute()
      const payload = await this.#addCode(store.id, sessionRef, 1, this.#clock.now())
      return { sessionRef, payload }
    })

  refreshQr: NumberPort['refreshQr'] = (store, sessionRef) =>
    withMode(this.#db, store, async () => {
      const codes = await this.#db
        .selectFrom('sandbox_qr_codes')
        .select(['sequence', 'lives_from'])
        .where('store_id', '=', store.id)
        .where('session_ref', '=', sessionRef)
        .orderBy('sequence')
        .execute()
      const [first] = codes
      if (!first || codes.length >= qrCodes) {
        throw new Refused('session-over', 'The session has no further codes')
      }
      return { payload: await this.#addCode(store.id, sessionRef, codes.length + 1, first.lives_from) }
    })

  stopQr: NumberPort['stopQr'] = (store) =>
    withMode(this.#db, store, async () => {
      await this.#endCodes(store.id)
      await this.#db.deleteFrom('sandbox_qr_links').where('store_id', '=', store.id).execute()
    })

  /** Whether a code can be scanned now; null if it never existed. */
  async find(payload: string): Promise<'alive' | 'dead' | null> {
    const code = await this.#db
      .selectFrom('sandbox_qr_codes')
      .select(['lives_from', 'lives_until'])
      .where('payload', '=', payload)
      .executeTakeFirst()
    if (!code) return null
    const now = this.#clock.now()
    return code.lives_from <= now && now < code.lives_until ? 'alive' : 'dead'
  }

  /** Simulates a phone (E.164) that scans a code. Returns the provider's callback, or null if the code has expired. */
  async scan(payload: string, phone: string, name: string | null): Promise<SignedHook | null> {
    const now = this.#clock.now()
    const link = await this.#db
      .updateTable('sandbox_qr_links as l')
      .from('sandbox_qr_codes as c')
      .set({ phone, name, is_linked: true })
      .whereRef('c.session_ref', '=', 'l.session_ref')
      .where('c.payload', '=', payload)
      .where('c.lives_from', '<=', now)
      .where('c.lives_until', '>', now)
      .where('l.is_linked', '=', false)
      .returning(['l.store_id', 'l.session_ref'])
      .executeTakeFirst()
    if (!link) return null
    await this.#endCodes(link.store_id)
    return this.#buildSessionHook(link.store_id, link.session_ref, ['scanned', 'linked'], phone, name)
  }

  /** Simulates that the link of the phone is lost, restored or logged out. Returns null if the store has no link. */
  async changeLink(storeId: string, event: 'lost' | 'back' | 'logout'): Promise<SignedHook | null> {
    const link = await this.#db
      .selectFrom('sandbox_qr_links')
      .select('session_ref')
      .where('store_id', '=', storeId)
      .where('is_linked', '=', true)
      .executeTakeFirst()
    if (!link) return null
    if (event === 'logout') {
      await this.#db.deleteFrom('sandbox_qr_links').where('store_id', '=', storeId).execute()
    }
    return this.#buildSessionHook(storeId, link.session_ref, [event], null, null)
  }

  /** Links a phone without a scan, for the demo and the tests. */
  async put(storeId: string, sessionRef: string, phone: string): Promise<void> {
    const link = { session_ref: sessionRef, phone, name: null, is_linked: true }
    await this.#db
      .insertInto('sandbox_qr_links')
      .values({ store_id: storeId, ...link })
      .onConflict((conflict) => conflict.column('store_id').doUpdateSet(link))
      .execute()
  }

  #buildSessionHook(
    storeId: string,
    sessionRef: string,
    events: readonly QrSessionData['event'][],
    phone: string | null,
    name: string | null,
  ): SignedHook {
    const numberId = `sandbox-${storeId}`
    const changes = events.map((event) =>
      buildQrChange({ sessionRef, event, ...(event === 'linked' ? { numberId, phone, name } : nobody) }),
    )
    const at = toTimestamp(this.#clock.now())
    return buildAccountHook(this.#secret, `sandbox-account-${storeId}`, at, changes)
  }

  async #addCode(storeId: string, sessionRef: string, sequence: number, startedAt: Date): Promise<string> {
    const payload = `${sequence}.${randomSecret()}`
    const after = (ms: number): Date => new Date(startedAt.getTime() + ms)
    await this.#db
      .insertInto('sandbox_qr_codes')
      .values({
        payload,
        store_id: storeId,
        session_ref: sessionRef,
        sequence,
        lives_from: after(getCodeStart(sequence)),
        lives_until: after(getCodeStart(sequence + 1)),
      })
      .execute()
    return payload
  }

  async #endCodes(storeId: string): Promise<void> {
    const now = this.#clock.now()
    await this.#db
      .updateTable('sandbox_qr_codes')
      .set({ lives_until: now })
      .where('store_id', '=', storeId)
      .where('lives_until', '>', now)
      .execute()
  }
}

const nobody = { numberId: null, phone: null, name: null }
