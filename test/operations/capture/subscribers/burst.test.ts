/** A burst of captures loses nothing. */
import { expect, test } from 'vitest'
import getSettings from '#operations/capture/popup/api/get-settings'
import { testApp } from '#test/support/app'
import { popupShop, readSubscribers } from '#test/support/capture'
import { readRows } from '#test/support/rows'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ logLevel: 'silent' })
// The embedded database runs one statement at a time.
const captures = app.database.kind === 'pglite' ? 200 : 1000
const shops = 2

test.runIf(isFullSuite)(
  'all captures are stored, each with one prize in stock, and drained jobs lose none',
  async () => {
    const prizes = [
      { label: 'Rare', probability: 30, stock: 25, coupon: { mode: 'unique', value: 20 } },
      { label: 'Often', probability: 50, coupon: { mode: 'shared', code: 'OFTEN5', value: 5 } },
      { label: 'Nothing', probability: 20 },
    ]
    const all = await Promise.all(
      Array.from({ length: shops }, () => popupShop(app, { roulette: { enabled: true, prizes } })),
    )
    const answers = await Promise.all(
      Array.from({ length: captures }, (_, n) =>
        all[n % shops]!.subscribe({ email: `burst${n}@example.com` }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    for (const [place, shop] of all.entries()) {
      const rows = await readSubscribers(shop)
      expect(rows).toHaveLength(captures / shops)
      const labels = answers.filter((_, n) => n % shops === place).map(({ body }) => body.prize.label)
      expect(rows.map((row) => row.prize_label).sort()).toEqual(labels.sort())
      const rare = rows.filter((row) => row.prize_label === 'Rare')
      expect(rare.length).toBeLessThanOrEqual(25)
      expect(new Set(rare.map((row) => row.coupon_code)).size).toBe(rare.length)
      const won = (await shop.call(getSettings)).body.roulette.prizes[0].won
      expect(won).toBe(rare.length)
      const touches = await readRows(shop, 'attribution_touches', ['id'])
      expect(touches).toHaveLength(rows.length)
    }
    await app.advance(10_000)
    await app.drainJobs()
    for (const shop of all) {
      expect((await readSubscribers(shop)).filter((row) => row.coupon_status === 'pending')).toEqual([])
    }
  },
  180_000,
)
