/** Holders that are visible in the storefront. */
import { alertTypes } from '#operations/bars/alerts/types'
import type { Body, Holder, World } from './world.ts'

export const byPath = { in: 'params', as: 'id' } as const
export const byBody = { in: 'body', as: 'id' } as const
const targets = ({ category }: World): Body[] => [
  { scope: 'products', productIds: ['1001'], excludedProductIds: ['1002'] },
  { scope: 'categories', categoryIds: [category] },
]
/** A design of each type that may contain references, with these pictures. */
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
export const twoItems = [
  { productId: '1001', variantId: '2001' },
  { productId: '1002', variantId: '2003' },
]

export const storefrontHolders: readonly Holder[] = [
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
]
