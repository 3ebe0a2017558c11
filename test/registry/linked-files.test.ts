/**
 * Links to our files in URL fields and texts without a reference annotation: the file stays as long as the link. URL
 * fields without an annotation are found in the registry; each is tested or exempt with a reason.
 */
import { expect, test } from 'vitest'
import { files } from '#operations/store/index'
import { getReferenceKind, unwrapSchema } from '#runtime/references'
import { ignoredKeys, z } from '#runtime/schema'
import { testApp, wholeRegistry } from '#test/support/app'
import { isFullSuite } from '#test/support/suite'
import { ana, exchangeShop } from '../operations/exchanges/shopper.ts'
import { approve, reject, remove, requested } from '../operations/exchanges/support.ts'
import { getBodySchema } from './reference-fields.ts'
import { sender, type World, world } from './world.ts'

const app = await testApp({ publicUrl: 'https://api.example.com' })
const registry = await wholeRegistry()

interface Linked {
  operation: string
  /** The URL field, as found in the registry; null: a text. */
  field: string | null
  body: (url: string, at: World) => object
  /** Removes the link: another body of the same operation, or a removing operation. */
  back: { body: object } | { remove: string }
}
const size = { name: 'Sizes', tables: [{ columns: ['Size', 'Chest'], rows: [['M', '50']] }] }
const popup = 'post_newsletter_settings'
const blocks = 'post_product_content_blocks'
const countdown = 'post_flash_countdown_bar_settings'
const linked: Linked[] = [
  {
    operation: 'post_size_guides',
    field: null,
    body: (url) => ({ ...size, instructionsHtml: `<p><a href="${url}">As a table</a></p>` }),
    back: { remove: 'delete_size_guides_by_id' },
  },
  {
    operation: blocks,
    field: null,
    body: (url) => ({ name: 'Text', type: 'rich-text', design: { html: `<a href="${url}?v=2#top">It</a>` } }),
    back: { remove: 'delete_product_content_blocks_by_id' },
  },
  {
    operation: blocks,
    field: 'design.linkUrl',
    body: (url) => ({
      name: 'Years',
      type: 'warranty',
      design: {
        duration: 2,
        durationUnit: 'years',
        coverageHtml: '<p>All of it</p>',
        linkText: 'Terms',
        linkUrl: url,
      },
    }),
    back: { remove: 'delete_product_content_blocks_by_id' },
  },
  {
    operation: popup,
    field: null,
    body: (url) => ({ design: { customCss: `.storefront-popup{background:url("${url}")}` } }),
    back: { body: { design: { customCss: null } } },
  },
  {
    operation: popup,
    field: null,
    body: (url) => ({ texts: { description: `All about it: ${url}.` } }),
    back: { body: { texts: { description: 'All about it.' } } },
  },
  {
    operation: countdown,
    field: 'linkUrl',
    body: (linkUrl) => ({ linkUrl }),
    back: { body: { linkUrl: null } },
  },
  {
    operation: countdown,
    field: 'announcements.linkUrl',
    body: (linkUrl) => ({ announcements: [{ text: 'News', linkUrl, isEnabled: true }] }),
    back: { body: { announcements: [] } },
  },
  {
    operation: 'post_action_bar_settings',
    field: null,
    body: (target) => ({ actions: [{ type: 'link', label: 'Prices', target }] }),
    back: { body: { actions: [{ type: 'link', label: 'Prices', target: '/prices' }] } },
  },
  {
    operation: 'post_campaigns',
    field: null,
    body: (url, { list }) => ({ name: 'Post', listId: list, content: { type: 'text', text: `See ${url}` } }),
    back: { remove: 'delete_campaigns_by_id' },
  },
]

test.runIf(isFullSuite)(
  'a linked file stays as long as the link, and is deleted a day later',
  async () => {
    const held: { name: string; key: string; release: () => Promise<{ status: number }> }[] = []
    for (const { operation, field, body, back } of linked) {
      const at = await world(app, { connection: 'qr' })
      const send = sender(at)
      const url = await at.file()
      const [name, of] = [`${operation} ${field ?? 'text'}`, registry.byId(operation)!]
      const saved = await send(of, body(url, at) as never)
      expect([name, saved.status < 300, saved.body?.error?.message]).toEqual([name, true, undefined])
      expect([name, JSON.stringify(saved.body)]).toEqual([name, expect.stringContaining(url)])
      const [row] = await app.database.query<{ key: string }>('select key from files where url = $1', [url])
      const release = () =>
        'body' in back
          ? send(of, back.body as never)
          : send(registry.byId(back.remove)!, undefined, { id: saved.body.id })
      held.push({ name, key: row!.key, release })
    }
    const there = async (): Promise<string[]> => {
      const all = await Promise.all(
        held.map(async ({ name, key }) => ((await app.services.adapters.storage.head(key)) ? [name] : [])),
      )
      return all.flat()
    }
    const pass = async (hours: number): Promise<void> => {
      await app.advance(hours * 3_600_000 + 60_000)
      await app.drainJobs({ allowFailures: true })
    }
    await pass(26)
    expect(await there()).toEqual(held.map(({ name }) => name))
    for (const { name, release } of held) expect([name, (await release()).status < 300]).toEqual([name, true])
    await pass(23)
    expect(await there()).toEqual(held.map(({ name }) => name))
    await pass(2)
    expect(await there()).toEqual([])
  },
  120_000,
)

test('the shipping label of a request stays as long as the request', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered({ customer: ana })
  const { sessionToken } = (await shop.lookup(order, ana.email)).body
  const { id } = await requested(shop, { order, sessionToken })
  const { key, url } = await files.put(await shop.context(), 'inbox-media', {
    fileName: 'label.pdf',
    contentType: 'application/pdf',
    visibility: 'public',
    content: Buffer.from('x'),
  })
  expect(await approve(shop, id, { labelUrl: url })).toMatchObject({ status: 200, body: { labelUrl: url } })
  const passDay = async (): Promise<boolean> => {
    await app.advance(25 * 3_600_000)
    await app.drainJobs({ allowFailures: true })
    return (await app.services.adapters.storage.head(key)) !== null
  }
  expect(await passDay()).toBe(true)
  expect((await reject(shop, id, { reason: 'Never sent' })).status).toBe(200)
  expect((await remove(shop, id)).status).toBe(204)
  expect(await passDay()).toBe(false)
})

/** Exempt fields, with the reason why a URL in them keeps no file. */
const exemptFields: Record<string, string> = {
  'post_product_exchanges_requests_by_id_approve labelUrl': 'tried above',
  'post_notifications_create link': 'is for the team, and goes by itself',
  'post_officialapi_setup returnUrl': 'is gone to once',
  'post_inbox_conversations_by_id_messages clientId': "is no address, but a name of the caller's own",
}

const [address, words] = ['https://api.example.com/files/a/b.png', 'words, and no address']
/** String fields that accept only a URL. */
function findLinkFields(schema: z.ZodTypeAny, path = ''): string[] {
  if (getReferenceKind(schema) !== undefined) return []
  const inner = unwrapSchema(schema)
  if (inner) return findLinkFields(inner, path)
  if (schema instanceof z.ZodArray) return findLinkFields(schema.element, path)
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => findLinkFields(option, path))
  }
  if (schema instanceof z.ZodObject) {
    const ignored = ignoredKeys(schema)
    return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) =>
      ignored.has(name) ? [] : findLinkFields(field, path === '' ? name : `${path}.${name}`),
    )
  }
  if (!(schema instanceof z.ZodString)) return []
  return schema.safeParse(address).success && !schema.safeParse(words).success ? [path] : []
}

test('every URL field is tested or exempt with a reason', () => {
  const found = registry.operations.flatMap((operation) =>
    operation.spec.readOnly
      ? []
      : [...new Set(findLinkFields(getBodySchema(operation)))].map((field) => `${operation.id} ${field}`),
  )
  const fieldOf = (named: string): string => named.replace(/^\w+_(?=product_content|flash)/, '')
  const tried = new Set(linked.map(({ operation, field }) => fieldOf(`${operation} ${field}`)))
  expect(found.filter((named) => !tried.has(fieldOf(named)) && !exemptFields[named])).toEqual([])
})
