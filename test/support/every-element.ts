/** A store with every widget on and some content for each, for tests of interactions between elements. */
import saveActions from '#operations/bars/actions/api/save-settings'
import createAlert from '#operations/bars/alerts/api/create-alert'
import saveCountdown from '#operations/bars/countdown/api/save-settings'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import updateFormSettings from '#operations/capture/contact-form/api/update-form-settings'
import savePopup from '#operations/capture/popup/api/save-settings'
import createButton from '#operations/messaging/button/api/create-button'
import createBlock from '#operations/product-page/content-blocks/api/create-block'
import moveBlock from '#operations/product-page/content-blocks/api/move-block'
import createBadge from '#operations/product-page/labels/api/create-badge'
import createSticker from '#operations/product-page/labels/api/create-sticker'
import saveLabels from '#operations/product-page/labels/api/save-settings'
import saveLook from '#operations/product-page/looks/api/save-look'
import saveLooks from '#operations/product-page/looks/api/save-settings'
import createGuide from '#operations/product-page/size-guides/api/create-guide'
import saveSlider from '#operations/product-page/video-slider/api/save-slider'
import saveWishlist from '#operations/product-page/wishlist/api/save-settings'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import createGift from '#operations/promotions/gifts/api/create-gift'
import createRule from '#operations/promotions/installments/api/create-rule'
import saveInstallments from '#operations/promotions/installments/api/save-settings'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import saveReviews from '#operations/reviews/settings/api/save-settings'
import createTestimonial from '#operations/reviews/testimonials/api/create-testimonial'
import saveTestimonials from '#operations/reviews/testimonials/api/save-testimonial-settings'
import saveCounter from '#operations/stock/counter/api/save-settings'
import saveStock from '#operations/stock/settings/api/save-settings'
import { putCategories, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import type { Operation } from '#runtime/operation'
import type { TestApp } from './app.ts'
import { picture, video } from './demo-media.ts'
import { post } from './numbers.ts'
import { type ConnectedShop, twoProducts } from './platform.ts'
import { sendEvents, visit } from './storefront.ts'

const coupon = { mode: 'shared', code: 'RODA10', type: 'percentage', value: 10 }
const colours = { backgroundColor: '#075e54', iconColor: '#ffffff' }

/** Long but common settings of merchants. */
const settings: [Operation, object][] = [
  [saveFreeShipping, { isEnabled: true, threshold: 199 }],
  [
    saveCountdown,
    { isEnabled: true, announcements: [{ text: 'Coleção nova no ar', linkUrl: '/novidades' }] },
  ],
  [
    saveActions,
    {
      isEnabled: true,
      position: 'bottom',
      actions: [{ type: 'link', label: 'Ofertas', target: '/ofertas', backgroundColor: '#166534' }],
    },
  ],
  [
    createAlert,
    { alertType: 'recent-purchases', isEnabled: true, initialDelaySeconds: 0, displaySeconds: 60 },
  ],
  [
    createAlert,
    {
      ...{ alertType: 'product-views', isEnabled: true, minCount: 1 },
      ...{ initialDelaySeconds: 0, displaySeconds: 60 },
    },
  ],
  [
    savePopup,
    {
      isEnabled: true,
      roulette: {
        enabled: true,
        prizes: [
          { label: '10% de desconto', color: '#6366f1', probability: 60, coupon },
          { label: 'Frete grátis', color: '#fef3c7', probability: 30, coupon: null },
          { label: 'Não foi desta vez', color: '#0f766e', probability: 10, coupon: null },
        ],
      },
      display: { delaySeconds: null, teaserEnabled: true, teaserText: 'Ganhe 10%', frequency: 'always' },
    },
  ],
  [updateFormSettings, { isEnabled: true, title: 'Fale conosco', consentRequired: true }],
  [
    createButton,
    {
      ...{ isEnabled: true, ...colours, tooltip: 'Posso ajudar?', tooltipDelaySeconds: 0 },
      attendants: [
        { name: 'Marco', role: 'Vendas', phone: '+5511940001001' },
        { name: 'Ada', phone: '+5511940001002' },
      ],
    },
  ],
  [saveReviews, { isEnabled: true, autoPublish: { mode: 'all', verifiedOnly: false, holdImages: false } }],
  ...[1, 2, 3, 4].map((n): [Operation, object] => [
    createTestimonial,
    { authorName: `Pessoa ${n}`, authorTitle: 'Recife', text: `Gostei ${n} vezes`, rating: 5 },
  ]),
  [saveTestimonials, { isEnabled: true, autoplay: true, autoplaySeconds: 3 }],
  [saveStock, { isEnabled: true, buttonShowInProductList: true }],
  [saveCounter, { isEnabled: true, threshold: 100 }],
  [createSticker, { name: 'Etiqueta', kind: 'text', text: 'Oferta', position: 'top-left' }],
  [createBadge, { name: 'Selo', text: 'Envio em 24 h', placement: 'below-title', icon: 'truck' }],
  [
    saveLabels,
    {
      featuredPrice: {
        ...{ isEnabled: true, text: '{{price}} no {{method}}', method: 'Pix', showInProductList: true },
      },
    },
  ],
  [
    saveSlider,
    {
      ...{ productId: '1001', title: 'Veja de perto', placement: 'below-description' },
      videos: ['one', 'two', 'three'].map((name) => ({
        ...{ videoUrl: video(name), posterUrl: picture(name), title: name, linkedProductId: '1002' },
      })),
    },
  ],
  [
    createGuide,
    {
      name: 'Medidas',
      tables: [
        {
          title: 'Camisetas',
          columns: ['Tamanho', 'Busto', 'Cintura', 'Quadril', 'Comprimento'],
          rows: [
            ['P', '84-88', '66-70', '90-94', '64'],
            ['M', '90-94', '72-76', '96-100', '66'],
          ],
        },
      ],
      showUnitSwitch: true,
      linkText: 'Guia de tamanhos',
    },
  ],
  [saveLooks, { isEnabled: true, title: 'Complete', buttonText: 'Levar tudo' }],
  [
    saveLook,
    {
      name: 'Sala',
      imageUrl: picture('look'),
      items: [
        { productId: '1001', variantId: null, quantity: 1, hotspot: { x: 5, y: 30 } },
        { productId: '1002', variantId: '2003', quantity: 2, hotspot: { x: 95, y: 60 } },
      ],
    },
  ],
  [saveWishlist, { isEnabled: true, showCount: true }],
  [
    createBundle,
    {
      ...{ name: 'Café da manhã', title: 'Melhor juntos', description: 'Para começar bem o dia.' },
      items: [{ productId: '1001' }, { productId: '1002' }],
      ...{ discountType: 'percentage', discountValue: 10, maxPerOrder: 2 },
    },
  ],
  [createGift, { name: 'Brinde', minAmount: 150, gift: { productId: '1002' } }],
  [createPromotion, { name: 'Leve 3', buyQuantity: 3, payQuantity: 2 }],
  [createRule, { name: 'Cartão', minAmount: 0, maxInstallments: 6 }],
  [saveInstallments, { showInProductList: true, showInCart: true }],
]

const image = picture('block')
const blocks: Record<string, { placement: string; design: object }> = {
  features: {
    placement: 'below-price',
    design: {
      items: [
        { icon: 'truck', title: 'Envio em 24 h', text: 'Para todo o Brasil' },
        { icon: image, title: 'Compra segura' },
      ],
    },
  },
  faq: {
    placement: 'below-description',
    design: {
      title: 'Dúvidas',
      openFirst: true,
      items: [{ question: 'Vai à máquina?', answerHtml: '<p>Vai, <strong>sempre</strong>.</p>' }],
    },
  },
  specifications: {
    placement: 'below-description',
    design: { layout: 'two-columns', rows: [{ label: 'Peso', value: '300 g' }] },
  },
  comparison: {
    placement: 'page-bottom',
    design: {
      title: 'Qual?',
      columns: [
        { title: 'Esta', productId: '1002', isHighlighted: true },
        { title: 'Outra', imageUrl: image },
        { title: 'Mais uma' },
        { title: 'E outra' },
      ],
      rows: [{ label: 'Lava-louças', cells: [true, false, 'à mão', ''] }],
    },
  },
  'before-after': {
    placement: 'page-bottom',
    design: { beforeImageUrl: image, afterImageUrl: picture('after-it'), startPosition: 30 },
  },
  steps: {
    placement: 'page-bottom',
    design: { title: 'Cuidados', items: [{ title: 'Lave', textHtml: '<p>À mão</p>', imageUrl: image }] },
  },
}

/** Turns everything on; `1001` and `1002` are in stock, `1003` is sold out. */
export async function everythingOn(app: TestApp, shop: ConnectedShop): Promise<void> {
  await putCategories(shop.platform, [{ id: '301', name: 'Cozinha' }])
  const imageUrl = picture('product')
  await putProducts(shop.platform, [
    ...twoProducts.map((each) => ({ ...each, imageUrl, categoryIds: ['301'] })),
    {
      ...{ id: '1003', name: 'Bule de ágata', imageUrl, categoryIds: ['301'] },
      variants: [{ id: '2004', sku: 'BUL-1', price: 89.9, stock: 0 }],
    },
  ])
  await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/2004/stock`, { stock: 0 })
  await (await shop.context()).queue(productSnapshotsRefresh, { productIds: ['1001', '1002', '1003'] })
  await app.drainJobs()
  const save = async (operation: Operation, body: object) => {
    const { status, body: answer } = await shop.call(operation, { body })
    if (status >= 300) throw new Error(`${operation.spec.path}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }
  for (const [operation, body] of settings) await save(operation, body)
  for (const [type, block] of Object.entries(blocks)) {
    const { id } = await save(createBlock, { name: type, type, ...block })
    await save(moveBlock, { id, isActive: true })
  }
  await shop.sell({ paymentStatus: 'paid' })
  await sendEvents(shop, [{ type: 'product-view', widget: 'page', productId: '1001' }])
  for (const [rating, name] of [
    [5, 'Ana'],
    [3, 'Bia'],
  ] as const) {
    const body = { productId: '1001', rating, name, text: `Nota ${rating}`, email: `${name}@example.com` }
    const { status, text } = await visit(shop, '/reviews', { body })
    if (status !== 201) throw new Error(text)
  }
  await app.drainJobs()
}
