/** What a body names is there: products and categories of the platform, and files that stay while something shows them. */
import { describe, expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import saveExchanges from '#operations/exchanges/settings/api/save-settings'
import { files } from '#operations/store/door'
import { changeProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { type Shop, store } from '#test/support/store'

const app = await testApp({ publicUrl: 'https://api.example.com' })

describe('products and categories of conditions', () => {
  const lists = ['productIds', 'excludedProductIds', 'categoryIds']

  test.each(lists)(
    '%s of an automation: what the platform does not have is refused by name',
    async (list) => {
      const shop = await connectedStore(app)
      const conditions = { [list]: ['9999'] }
      const made = await shop.call(createAutomation, { body: { type: 'abandoned-cart', conditions } })
      expect(made).toMatchObject({ status: 400 })
      expect(made.body.error.message).toMatch(
        new RegExp(`^conditions.${list}: your platform has no \\w+ 9999$`),
      )
      const { id } = (await shop.call(createAutomation, { body: { type: 'abandoned-cart' } })).body
      const changed = await shop.call(updateAutomation, { params: { id }, body: { conditions } })
      expect(changed).toMatchObject({ status: 400, body: made.body })
    },
  )

  test.each(['excludedProductIds', 'excludedCategoryIds'])('%s of exchanges', async (list) => {
    const shop = await connectedStore(app)
    const { status, body } = await shop.call(saveExchanges, { body: { [list]: ['9999'] } })
    expect([status, body.error?.message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${list}: your platform has no \\w+ 9999$`)),
    ])
  })

  test('what is held already is not asked for again, though the product is gone', async () => {
    const shop = await connectedStore(app)
    const body = { type: 'abandoned-cart', conditions: { productIds: ['1001'] } }
    const made = await shop.call(createAutomation, { body })
    expect(made.status).toBe(201)
    for (const id of ['1001', '1002']) await changeProduct(shop.platform, id, { isDeleted: true })
    await app.drainJobs()
    const { id } = made.body
    const conditions = { productIds: ['1001'], excludedProductIds: ['1001'] }
    expect((await shop.call(updateAutomation, { params: { id }, body: { conditions } })).status).toBe(200)
    const more = { productIds: ['1001', '9999'] }
    const refused = await shop.call(updateAutomation, { params: { id }, body: { conditions: more } })
    expect(refused.body.error?.message).toMatch(/no product 9999$/)
  })

  test('without a platform an empty list is saved, and a product is a conflict', async () => {
    const shop = await store(app)
    const save = (excludedProductIds: string[]) => shop.call(saveExchanges, { body: { excludedProductIds } })
    expect((await save([])).status).toBe(200)
    expect((await save(['1'])).status).toBe(409)
  })
})

describe('a file stays for as long as something shows it', () => {
  const picture = async (shop: Shop): Promise<string> => {
    const png = { fileName: 'a.png', contentType: 'image/png', visibility: 'public' } as const
    return (await files.put(await shop.context(), 'inbox-media', { ...png, content: Buffer.from('x') })).url
  }
  const answers = async (url: string): Promise<number> =>
    (await app.fetch(new Request(url), { ip: '127.0.0.1' })).status
  const day = 24 * 3_600_000 + 3_700_000

  interface Holder {
    name: string
    /** Saves it with the picture. Answers how to let go of it. */
    hold: (shop: Shop, url: string) => Promise<() => Promise<unknown>>
  }
  const write = async (shop: Shop, method: string, path: string, body?: unknown) => {
    const answer = await shop.request(method, path, body === undefined ? {} : { body })
    expect([method, path, answer.status < 300], JSON.stringify(answer.body)).toEqual([method, path, true])
    return answer.body
  }
  const campaignWith = async (shop: Shop, url: string): Promise<string> => {
    const list = await write(shop, 'POST', '/campaigns/lists', { name: 'All' })
    const content = { type: 'text', text: 'Hi', media: { type: 'image', url } }
    return (await write(shop, 'POST', '/campaigns', { name: 'Sale', listId: list.id, content })).id
  }
  const button = (avatarUrl: string | null) => ({
    phone: '+5511988887777',
    attendants: [{ name: 'Ana', phone: '+5511988887777', avatarUrl }],
  })
  const holders: Holder[] = [
    {
      name: 'a campaign whose media is taken away',
      hold: async (shop, url) => {
        const id = await campaignWith(shop, url)
        return () => write(shop, 'PUT', `/campaigns/${id}`, { content: { media: null } })
      },
    },
    {
      name: 'a campaign that is deleted, and so is its copy',
      hold: async (shop, url) => {
        const id = await campaignWith(shop, url)
        const copy = (await write(shop, 'POST', `/campaigns/${id}/duplicate`)).id
        await write(shop, 'DELETE', `/campaigns/${id}`)
        return () => write(shop, 'DELETE', `/campaigns/${copy}`)
      },
    },
    {
      name: 'the chat button',
      hold: async (shop, url) => {
        const { id } = await write(shop, 'POST', '/messaging-button', button(url))
        return () => write(shop, 'PATCH', `/messaging-button/${id}`, button(null))
      },
    },
    {
      name: 'the mail of stock alerts',
      hold: async (shop, url) => {
        await write(shop, 'POST', '/stock-notifications/settings', { templateEmail: { logo: url } })
        return () => write(shop, 'POST', '/stock-notifications/settings', { templateEmail: { logo: '' } })
      },
    },
  ]

  test.each(holders)('$name', async ({ hold }) => {
    const shop = await connectedStore(app)
    const url = await picture(shop)
    const letGo = await hold(shop, url)
    const clean = async () => {
      await app.advance(day)
      await app.drainJobs({ allowFailures: true })
    }
    await clean()
    await clean()
    expect(await answers(url)).toBe(200)
    await letGo()
    expect(await answers(url)).toBe(200)
    await clean()
    expect(await answers(url)).toBe(404)
  })
})
