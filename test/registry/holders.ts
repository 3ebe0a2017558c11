/**
 * What names something: for each resource whose body may name a product, a category, a template, a list or a file, how
 * it is made, changed and taken away, with bodies that between them fill every such field.
 */
import { alertTypes } from '#operations/bars/alerts/types'
import { files } from '#operations/store/door'
import { putCategories } from '#operations/store/ecommerce/sandbox-catalog'
import { innerOf, referenceOf } from '#runtime/references'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { ignoredKeys, z } from '#runtime/schema'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import type { TestApp } from '#test/support/app'
import { withInbox } from '#test/support/inbox'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

/** A store in which there is one of each kind of thing. */
export interface World {
  shop: ConnectedShop
  category: string
  template: number
  list: string
  /** A picture in our storage, uploaded. */
  file(): Promise<string>
  /** One that was uploaded by the link that an operation gives; answers its address. */
  upload(operation: string): Promise<string>
  /** The address of such a link, that nothing was uploaded to. */
  promised(operation: string): Promise<string>
  /** A name, or a number, that was not there before. */
  next(): number
}

/** Operations that give a link to upload one picture to, by their paths. */
const uploads: Record<string, string> = {
  header: '/messaging/templates/header-media',
  inbox: '/inbox/media/upload-url',
}

const picture = { fileName: 'a.png', contentType: 'image/png', visibility: 'public' } as const

export async function world(
  app: TestApp,
  { connection = 'official' }: Pick<Holder, 'connection'> = {},
): Promise<World> {
  const shop = await connectedStore(app)
  await putCategories(shop.platform, [{ id: '10', name: 'Cozinha' }])
  const ctx = await shop.context()
  if (connection === 'inbox') await withInbox(app, shop)
  else await connectNumber(ctx, { type: connection, phone: '+5511300000000' })
  const link = async (operation: string) => {
    const body = { fileName: 'a.png', contentType: 'image/png', size: 1 }
    const answer = await shop.request('POST', uploads[operation]!, { body })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }
  const template = await makeTemplate(ctx, { name: 'plain', body: 'Hello there.' })
  const list = await shop.request('POST', '/campaigns/lists', { body: { name: 'All' } })
  let made = 0
  return {
    shop,
    category: '10',
    template,
    list: list.body.id,
    next: () => {
      made += 1
      return made
    },
    upload: async (operation) => {
      const { uploadUrl, method, headers, fileUrl } = await link(operation)
      await app.fetch(new Request(uploadUrl, { method, headers, body: 'x' }), { ip: '127.0.0.1' })
      return fileUrl
    },
    promised: async (operation) => (await link(operation)).fileUrl,
    file: async () => (await files.put(ctx, 'inbox-media', { ...picture, content: Buffer.from('x') })).url,
  }
}

type Body = Record<string, unknown>

export interface Holder {
  name: string
  /** Ids of operations. */
  create?: string
  update?: string
  remove?: string
  /** Where the operations that change it are told which: a parameter of the path, or a field of the body. */
  id?: { in: 'params' | 'body'; as: string }
  /** Makes one that names nothing, or as little as it may. */
  bare?: (world: World) => Body
  /** Makes it where `create` cannot, or is not what makes it as it must be; answers its id. */
  make?: (world: World) => Promise<string>
  /** Bodies that name things. */
  full: (world: World) => Promise<Body[]>
  /** How the store sends; `official` unless said. */
  connection?: 'official' | 'qr' | 'inbox'
  /** Of the path of `create`. */
  params?: (world: World) => Promise<Record<string, string>>
  /** Which operation gives links for its files; left out: any file of the store will do. */
  uploads?: string
  /** Another value of a field that names nothing; `name` unless said. */
  touch?: Body
  /** A body of the update after which it names no file any more; left out: it must be removed. */
  without?: Body
}

const byPath = { in: 'params', as: 'id' } as const
const byBody = { in: 'body', as: 'id' } as const
const targets = ({ category }: World): Body[] => [
  { scope: 'products', productIds: ['1001'], excludedProductIds: ['1002'] },
  { scope: 'categories', categoryIds: [category] },
]
/** A design of each type that may name something, with these pictures in it. */
const designs: Record<string, (one: string, other: string) => object> = {
  comparison: (imageUrl) => ({
    columns: [
      { title: 'One', imageUrl, productId: '1001' },
      { title: 'Two', imageUrl: null, productId: '1002' },
    ],
    rows: [{ label: 'Good', cells: [true, 'very'] }],
  }),
  'rich-text': (url) => ({ html: `<p>See <img src="${url}" alt="it"></p>` }),
  features: (icon) => ({ items: [{ icon, title: 'Quick' }] }),
  'image-banner': (imageUrl, mobileImageUrl) => ({ imageUrl, mobileImageUrl, alt: 'It' }),
  'before-after': (beforeImageUrl, afterImageUrl) => ({ beforeImageUrl, afterImageUrl }),
  steps: (imageUrl) => ({ items: [{ title: 'First', textHtml: '<p>Do</p>', imageUrl }] }),
}
const elsewhere = ['https://a.example/a.png', 'https://a.example/b.png'] as const
const block = (type: string, of: object, more: object = {}): Body => ({
  name: `A ${type}`,
  type,
  design: of,
  ...more,
})
const size = { name: 'Sizes', tables: [{ columns: ['Size', 'Chest'], rows: [['M', '50']] }] }
const twoItems = [
  { productId: '1001', variantId: '2001' },
  { productId: '1002', variantId: '2003' },
]
const textOf = (mediaUrl: string) => ({ text: 'Hi', mediaUrl, mediaType: 'image' })

export const holders: readonly Holder[] = [
  {
    name: 'the free shipping bar',
    touch: { isClosable: true },
    update: 'post_free_shipping_bar_settings',
    full: async () => [{ excludedProductIds: ['1001'] }],
  },
  {
    name: 'an alert',
    touch: { isClosable: false },
    create: 'post_fomo_alerts_create',
    update: 'put_fomo_alerts_update',
    id: byBody,
    bare: (at) => ({ alertType: alertTypes[at.next() % alertTypes.length] }),
    full: async (at) => [
      { alertType: alertTypes[at.next() % alertTypes.length], excludedProductIds: ['1001'] },
    ],
  },
  {
    name: 'the chat button',
    touch: { label: 'Talk to us' },
    create: 'post_messaging_button',
    update: 'patch_messaging_button_by_messagingButtonId',
    id: { in: 'params', as: 'messagingButtonId' },
    bare: () => ({ phone: '+5511988887777' }),
    full: async (at) => [
      {
        phone: '+5511988887777',
        attendants: [{ name: 'Ana', phone: '+5511988887777', avatarUrl: await at.file() }],
      },
    ],
    without: { attendants: [] },
  },
  {
    name: 'a promotion',
    create: 'post_promotions',
    update: 'patch_promotions_by_id',
    remove: 'delete_promotions_by_id',
    id: byPath,
    bare: (at) => ({ name: `Promotion ${at.next()}`, buyQuantity: 3, payQuantity: 2, scope: 'all' }),
    full: async (at) =>
      targets(at).map((of) => ({ name: `Promotion ${at.next()}`, buyQuantity: 3, payQuantity: 2, ...of })),
  },
  {
    name: 'a bundle',
    create: 'post_bundles',
    update: 'patch_bundles_by_id',
    remove: 'delete_bundles_by_id',
    id: byPath,
    bare: (at) => ({
      name: `Bundle ${at.next()}`,
      items: [{ productId: '1001', variantId: '2002', quantity: 2 }],
      discountType: 'percentage',
      discountValue: 10,
    }),
    full: async (at) => [
      {
        name: `Bundle ${at.next()}`,
        items: twoItems,
        discountType: 'percentage',
        discountValue: 10,
        imageUrl: await at.file(),
      },
    ],
    without: { imageUrl: null },
  },
  {
    name: 'a gift',
    create: 'post_cart_gifts',
    update: 'patch_cart_gifts_by_id',
    remove: 'delete_cart_gifts_by_id',
    id: byPath,
    bare: (at) => ({
      name: `Gift ${at.next()}`,
      minAmount: 150,
      gift: { productId: '1001', variantId: '2001' },
    }),
    full: async (at) => [
      { name: `Gift ${at.next()}`, minAmount: 150, gift: { productId: '1002', variantId: '2003' } },
    ],
  },
  {
    name: 'a sticker',
    create: 'post_product_stickers',
    update: 'put_product_stickers',
    remove: 'delete_product_stickers_by_id',
    id: byBody,
    bare: () => ({ name: 'New', kind: 'text', text: 'New' }),
    full: async (at) => {
      const imageUrl = await at.file()
      return targets(at).map((of) => ({ name: 'Picture', kind: 'image', imageUrl, ...of }))
    },
    without: { kind: 'text', text: 'New', imageUrl: null },
  },
  {
    name: 'a badge',
    create: 'post_product_badges',
    update: 'put_product_badges',
    remove: 'delete_product_badges_by_id',
    id: byBody,
    bare: () => ({ name: 'New', text: 'New' }),
    full: async (at) => targets(at).map((of) => ({ name: 'New', text: 'New', ...of })),
  },
  {
    name: 'the settings of badges',
    touch: { maxPerProduct: 2 },
    update: 'put_product_badges_settings',
    full: async () => [{ featuredPrice: { excludedProductIds: ['1001'] } }],
  },
  {
    name: 'a size guide',
    create: 'post_size_guides',
    update: 'put_size_guides',
    remove: 'delete_size_guides_by_id',
    id: byBody,
    bare: () => size,
    full: async (at) => {
      const [imageUrl, inText] = [await at.file(), await at.file()]
      const pictures = { imageUrl, instructionsHtml: `<p>So <img src="${inText}" alt="it"></p>` }
      return targets(at).map((of) => ({ ...size, ...pictures, ...of }))
    },
    without: { imageUrl: null, instructionsHtml: null },
  },
  {
    name: 'a look',
    create: 'post_shop_the_look_looks',
    update: 'post_shop_the_look_looks',
    remove: 'delete_shop_the_look_looks_by_id',
    id: byBody,
    bare: () => ({
      name: 'Look',
      imageUrl: 'https://a.example/a.png',
      items: [{ productId: '1001', variantId: '2002' }, { productId: '1002' }],
    }),
    full: async (at) => [{ name: 'Look', imageUrl: await at.file(), items: twoItems }],
    without: { imageUrl: 'https://a.example/a.png' },
  },
  {
    name: 'the slider of a product',
    touch: { title: 'Look' },
    update: 'put_product_video_slider',
    remove: 'delete_product_video_slider_product_by_productId',
    full: async (at) => [
      {
        productId: '1001',
        videos: [{ videoUrl: await at.file(), posterUrl: await at.file(), linkedProductId: '1002' }],
      },
    ],
    without: { productId: '1001', videos: [{ videoUrl: 'https://a.example/a.mp4' }] },
  },
  {
    name: 'the slider of the home page',
    touch: { title: 'Look' },
    update: 'put_product_video_slider_home',
    full: async (at) => [
      { videos: [{ videoUrl: await at.file(), posterUrl: await at.file(), linkedProductId: '1002' }] },
    ],
    without: { videos: [] },
  },
  ...Object.entries(designs).map(
    ([type, design]): Holder => ({
      name: `a content block, ${type}`,
      create: 'post_product_content_blocks',
      update: 'put_product_content_blocks',
      remove: 'delete_product_content_blocks_by_id',
      id: byBody,
      bare: () =>
        type === 'comparison'
          ? block(type, { ...designs.comparison!('', ''), columns: [{ title: 'A' }, { title: 'B' }] })
          : block(type, design(...elsewhere)),
      full: async (at) => {
        const designed = design(await at.file(), await at.file())
        return targets(at).map((of) => block(type, designed, of))
      },
      without: { design: design(...elsewhere) },
    }),
  ),
  {
    name: 'the stock counter',
    touch: { fontSize: 20 },
    update: 'post_stock_counter_settings',
    full: async (at) => [{ productIds: ['1001'], categoryIds: [at.category] }],
  },
  {
    name: 'the settings of stock alerts',
    touch: { allowPhones: false },
    update: 'post_stock_notifications_settings',
    full: async (at) => [{ templateEmail: { logo: await at.file() }, officialapiTemplateId: at.template }],
    without: { templateEmail: { logo: '' } },
  },
  {
    name: 'a campaign',
    create: 'post_campaigns',
    update: 'put_campaigns_by_id',
    remove: 'delete_campaigns_by_id',
    id: byPath,
    bare: (at) => ({ name: `Campaign ${at.next()}`, listId: at.list }),
    full: async (at) => [
      {
        name: `Campaign ${at.next()}`,
        listId: at.list,
        content: {
          type: 'template',
          officialapiTemplateId: at.template,
          media: { type: 'image', url: await at.file() },
        },
      },
    ],
    without: { content: { media: null } },
  },
  {
    name: 'an automation',
    create: 'post_automations',
    update: 'put_automations_by_id',
    remove: 'delete_automations_by_id',
    id: byPath,
    bare: () => ({ type: 'abandoned-cart' }),
    full: async (at) => [
      {
        type: 'abandoned-cart',
        message: { ...textOf(await at.file()), officialapiTemplateId: at.template },
        conditions: { productIds: ['1001'], excludedProductIds: ['1002'], categoryIds: [at.category] },
        flow: {
          start: 'wait',
          steps: [
            { id: 'wait', type: 'wait', minutes: 60, next: 'told' },
            {
              id: 'told',
              type: 'message',
              message: { ...textOf(await at.file()), officialapiTemplateId: at.template },
            },
          ],
        },
      },
    ],
  },
  {
    name: 'the settings of exchanges',
    touch: { windowDays: 9 },
    update: 'post_product_exchanges_settings',
    full: async (at) => [
      {
        excludedProductIds: ['1001'],
        excludedCategoryIds: [at.category],
        messaging: Object.fromEntries(
          ['requested', 'approved', 'addressChanged', 'received', 'completed', 'rejected', 'expired'].map(
            (event) => [event, { officialapiTemplateId: at.template }],
          ),
        ),
      },
    ],
  },
  {
    name: 'the settings of reviews',
    touch: { widget: { perPage: 5 } },
    update: 'post_product_reviews_settings',
    full: async (at) => [
      { email: { logoUrl: await at.file() }, message: { officialapiTemplateId: at.template } },
    ],
    without: { email: { logoUrl: null } },
  },
  {
    name: 'a testimonial',
    touch: { text: 'Better' },
    create: 'post_store_testimonials',
    update: 'put_store_testimonials',
    remove: 'delete_store_testimonials_by_id',
    id: byBody,
    bare: () => ({ authorName: 'Ana', text: 'Good' }),
    full: async (at) => [{ authorName: 'Ana', text: 'Good', photoUrl: await at.file() }],
    without: { photoUrl: null },
  },
  {
    name: 'the store',
    update: 'patch_store',
    full: async (at) => [{ logoUrl: await at.file() }],
    without: { logoUrl: null },
  },
  {
    name: 'the popup',
    touch: { isEnabled: false, texts: { title: 'Join us' } },
    update: 'post_newsletter_settings',
    full: async (at) => [
      { contactListId: at.list, design: { imageUrl: await at.file(), logoUrl: await at.file() } },
    ],
    without: { design: { imageUrl: null, logoUrl: null } },
  },
  {
    name: 'the preview of a popup',
    create: 'post_newsletter_preview',
    full: async (at) => [
      {
        settings: {
          contactListId: at.list,
          design: { imageUrl: await at.file(), logoUrl: await at.file() },
        },
      },
    ],
  },
  {
    name: 'the contact form',
    touch: { title: 'Write to us' },
    update: 'put_contact_form_settings',
    full: async (at) => [{ crmListId: at.list }],
  },
  {
    name: 'the sections of looks',
    touch: { title: 'Looks' },
    update: 'post_shop_the_look_settings',
    full: async (at) => {
      const body = { name: 'Look', imageUrl: 'https://a.example/a.png', items: twoItems }
      const { id } = (await at.shop.request('POST', '/shop-the-look/looks', { body })).body
      return [{ homeSections: [{ key: 'new', title: 'New', lookIds: [id] }] }]
    },
  },
  {
    name: 'a template',
    create: 'post_messaging_templates',
    remove: 'delete_messaging_templates_by_id',
    id: byPath,
    uploads: 'header',
    full: async (at) => [
      {
        name: `picture_${at.next()}`,
        language: 'en',
        category: 'marketing',
        body: 'Look at this.',
        header: { type: 'image', mediaUrl: await at.upload('header') },
      },
    ],
  },
  {
    name: 'a template, changed',
    touch: { footer: 'Bye' },
    update: 'patch_messaging_templates_by_id',
    remove: 'delete_messaging_templates_by_id',
    id: byPath,
    uploads: 'header',
    make: async (at) => {
      const of = { name: `changed_${at.next()}`, body: 'Look at this.' }
      return String(await makeTemplate(await at.shop.context(), of))
    },
    full: async (at) => [{ header: { type: 'image', mediaUrl: await at.upload('header') } }],
  },
  {
    name: 'a message of the team, with a file',
    create: 'post_messaging_send_message',
    connection: 'qr',
    full: async (at) => [{ phone: '+5511988887777', type: 'image', mediaUrl: await at.file() }],
  },
  {
    name: 'a message of the team, with a template',
    create: 'post_messaging_send_message',
    full: async (at) => [{ phone: '+5511988887777', officialapiTemplateId: at.template }],
  },
  {
    name: 'an answer kept for many',
    create: 'post_inbox_quick_replies',
    remove: 'delete_inbox_quick_replies_by_id',
    id: byPath,
    connection: 'inbox',
    uploads: 'inbox',
    full: async (at) => [{ shortcut: `a${at.next()}`, text: 'Here', mediaUrl: await at.upload('inbox') }],
  },
  {
    name: 'a message of the inbox, with a file',
    create: 'post_inbox_conversations_by_id_messages',
    connection: 'inbox',
    uploads: 'inbox',
    params: conversation,
    full: async (at) => [{ type: 'image', mediaUrl: await at.upload('inbox') }],
  },
  {
    name: 'a message of the inbox, with a template',
    create: 'post_inbox_conversations_by_id_messages',
    connection: 'inbox',
    params: conversation,
    full: async (at) => [{ type: 'template', officialapiTemplateId: at.template }],
  },
]

/** Somebody wrote to the store just now. */
async function conversation({ shop }: World): Promise<Record<string, string>> {
  const inbox = await withInbox(shop.app, shop, false)
  await inbox.write({ phone: '+5511977776666', text: 'Hello?' })
  return { id: (await inbox.conversation()).id }
}

/** One that is there, or one that was made with as little as it may name; null where each store has one. */
export async function made(registry: Registry, holder: Holder, at: World): Promise<string | null> {
  if (holder.make) return holder.make(at)
  if (!holder.bare) return null
  const { status, body } = await sender(at)(registry.byId(holder.create!)!, holder.bare(at))
  if (status !== 201 && status !== 200) throw new Error(`${holder.name}: ${JSON.stringify(body)}`)
  return body.id
}

type Send = (
  operation: LoadedOperation,
  body?: Body,
  params?: Record<string, string>,
) => ReturnType<ConnectedShop['request']>

/** Calls an operation of the store; parameters stand in its path. */
export const sender =
  ({ shop }: World): Send =>
  ({ spec }, body, params = {}) =>
    shop.request(
      spec.method,
      spec.path.replace(/:([A-Za-z]+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? 'none')),
      body === undefined ? {} : { body },
    )

const isFree = (schema: z.ZodTypeAny): boolean => {
  const inner = innerOf(schema)
  return inner ? isFree(inner) : schema instanceof z.ZodRecord
}

/** What a body of an operation is read by; where it takes a free object, the resource that it answers says what it is. */
export function bodySchemaOf({ spec }: LoadedOperation): z.ZodTypeAny {
  const { body } = spec.input ?? {}
  const answer = spec.answer.body
  if (!(body instanceof z.ZodObject)) return body ?? z.object({})
  if (!(answer instanceof z.ZodObject)) return body
  const shown = answer.shape as z.ZodRawShape
  const free = Object.entries(body.shape as z.ZodRawShape).filter(
    ([name, field]) => isFree(field) && shown[name],
  )
  return body.extend(Object.fromEntries(free.map(([name]) => [name, shown[name]!])))
}

/** Where a schema has marks: fields without the indices of their lists, with what they name. */
export function marksOf(schema: z.ZodTypeAny, path = ''): { field: string; kind: string }[] {
  const kind = referenceOf(schema)
  if (kind !== undefined) return [{ field: path, kind }]
  const inner = innerOf(schema)
  if (inner) return marksOf(inner, path)
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  if (schema instanceof z.ZodArray) return marksOf(schema.element, path)
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => marksOf(option, path))
  }
  if (!(schema instanceof z.ZodObject)) return []
  const ignored = ignoredKeys(schema)
  return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) =>
    ignored.has(name) ? [] : marksOf(field, at(name)),
  )
}

/** A field without the indices in it. */
export const withoutIndices = (field: string): string => field.replace(/\.\d+(?=\.|$)/g, '')
