/** After a long downtime the platform may reject the cursor of an interrupted sync. */
import { expect, test } from 'vitest'
import { putSandboxCart } from '#operations/store/ecommerce/sandbox-carts'
import { testApp } from '#test/support/app'
import { ana, automationShop } from '#test/support/automations'

const app = await testApp()

test.each(['orders', 'carts'] as const)(
  '%s are read from the start of the interrupted sync',
  async (mirror) => {
    await app.setClock('2026-11-20T15:00:00.000Z')
    const shop = await automationShop(app)
    const ctx = await shop.context()
    await app.advance(3_600_000)
    await app.drainJobs()
    const progress = async () => {
      const row = await ctx.db.selectFrom('connections').select('settings').executeTakeFirstOrThrow()
      return row.settings as Record<string, { since: string; cursor: string | null }>
    }
    const left = {
      ...(await progress())[mirror],
      cursor: 'of another version',
      startedAt: '2026-11-20T16:00:00.000Z',
    }
    const settings = JSON.stringify({ ...(await progress()), [mirror]: left })
    await ctx.db.updateTable('connections').set({ settings }).where('port', '=', 'ecommerce').execute()
    await shop.place({ customer: ana })
    await putSandboxCart(shop.platform, { customer: ana, items: [{ variantId: '2003', quantity: 1 }] })
    await app.advance(24 * 3_600_000)
    await app.drainJobs()
    expect(await ctx.db.selectFrom(mirror).select('id').execute()).toHaveLength(1)
    expect((await progress())[mirror]!.cursor).toBeNull()
  },
)
