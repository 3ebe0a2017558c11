/** The twelve templates of Aurora's official number. */

interface TemplateButton {
  type: 'quick-reply' | 'url' | 'phone' | 'coupon-code'
  text: string | null
  url: string | null
  phone: string | null
}

export interface DemoTemplate {
  name: string
  language: string
  category: 'marketing' | 'utility'
  /** A picture is the one that was uploaded under its name. */
  header: { type: 'image' | 'text'; text: string | null } | null
  body: string
  footer: string | null
  buttons: TemplateButton[]
  /** One for each placeholder of the body, and of the buttons that have one. */
  examples: string[]
  buttonExamples: string[]
  status: 'approved' | 'pending' | 'rejected' | 'paused'
  daysAgo: number
}

const link = (text: string, url: string): TemplateButton => ({ type: 'url', text, url, phone: null })
const coupon: TemplateButton = { type: 'coupon-code', text: null, url: null, phone: null }
const footer = 'Responda SAIR para não receber mais'

const base: Omit<DemoTemplate, 'name' | 'body' | 'examples' | 'daysAgo'> = {
  language: 'pt_BR',
  category: 'utility',
  header: null,
  footer: null,
  buttons: [],
  buttonExamples: [],
  status: 'approved',
}

export const auroraTemplates: DemoTemplate[] = [
  {
    ...base,
    name: 'cart_reminder',
    category: 'marketing',
    body: 'Oi {{1}}, você deixou {{2}} no carrinho. Quer terminar a compra?',
    footer,
    buttons: [link('Voltar ao carrinho', 'https://aurora.example/cart/{{1}}')],
    examples: ['Ana', 'Garrafa térmica 500 ml'],
    buttonExamples: ['7f3c'],
    daysAgo: 395,
  },
  {
    ...base,
    name: 'cart_coupon',
    category: 'marketing',
    body: 'Oi {{1}}, seu carrinho ainda está aqui. Use o cupom {{2}} e leve com {{3}} de desconto.',
    footer,
    buttons: [coupon],
    examples: ['Ana', 'BACK-7KQ2MN', '10%'],
    buttonExamples: ['BACK-7KQ2MN'],
    daysAgo: 394,
  },
  {
    ...base,
    name: 'order_shipped',
    body: 'Oi {{1}}, o pedido {{2}} saiu para entrega. Código de rastreio: {{3}}. Boa espera!',
    buttons: [link('Acompanhar', 'https://aurora.example/track/{{1}}')],
    examples: ['Ana', '9412', 'AU941200BR'],
    buttonExamples: ['AU941200BR'],
    daysAgo: 393,
  },
  {
    ...base,
    name: 'payment_reminder',
    body: 'Oi {{1}}, o pagamento do pedido {{2}} ainda não chegou. O total é {{3}} e o link vale por três dias.',
    buttons: [link('Pagar agora', 'https://aurora.example/pay/{{1}}')],
    examples: ['Ana', '9412', 'R$ 189,90'],
    buttonExamples: ['9412'],
    daysAgo: 393,
  },
  {
    ...base,
    name: 'welcome_back',
    category: 'marketing',
    body: 'Oi {{1}}, sentimos a sua falta! Separamos novidades da Aurora que combinam com você.',
    footer,
    buttons: [link('Ver novidades', 'https://aurora.example/novidades')],
    examples: ['Ana'],
    daysAgo: 300,
  },
  {
    ...base,
    name: 'cashback_ready',
    category: 'marketing',
    body: 'Oi {{1}}, você ganhou {{2}} de volta. Use o cupom {{3}} até o fim do mês.',
    footer,
    buttons: [coupon],
    examples: ['Ana', 'R$ 18,90', 'CASH-4TPL9X'],
    buttonExamples: ['CASH-4TPL9X'],
    daysAgo: 280,
  },
  {
    ...base,
    name: 'review_request',
    body: 'Oi {{1}}, o que achou de {{2}}? Sua opinião ajuda quem está escolhendo.',
    buttons: [link('Avaliar', 'https://aurora.example/avaliar/{{1}}')],
    examples: ['Ana', 'Manta de algodão'],
    buttonExamples: ['8d21'],
    daysAgo: 260,
  },
  {
    ...base,
    name: 'back_in_stock',
    language: 'en_US',
    body: 'Hi {{1}}, good news: {{2}} is back in stock. It tends to go fast.',
    buttons: [link('See it', 'https://aurora.example/p/{{1}}')],
    examples: ['Ana', 'Wall clock North'],
    buttonExamples: ['relogio-de-parede-norte'],
    daysAgo: 240,
  },
  {
    ...base,
    name: 'black_friday',
    language: 'en_US',
    category: 'marketing',
    header: { type: 'image', text: null },
    body: 'Hi {{1}}, our Black Friday has begun. Take {{2}} with you before Sunday ends.',
    footer: 'Reply STOP to stop',
    buttons: [link('Shop now', 'https://aurora.example/black-friday')],
    examples: ['Ana', 'BLACK20'],
    daysAgo: 85,
  },
  {
    ...base,
    name: 'lookbook_hold',
    category: 'marketing',
    body: 'Oi {{1}}, a nova coleção chegou. Veja o lookbook completo no site.',
    footer,
    examples: ['Ana'],
    status: 'pending',
    daysAgo: 1,
  },
  {
    ...base,
    name: 'flash_reject',
    category: 'marketing',
    body: 'CORRA {{1}}!!! Só hoje, TUDO de graça, clique já e não perca.',
    examples: ['Ana'],
    status: 'rejected',
    daysAgo: 25,
  },
  {
    ...base,
    name: 'spring_pause',
    category: 'marketing',
    body: 'Oi {{1}}, a primavera chegou na Aurora com cores novas para a sua casa.',
    footer,
    examples: ['Ana'],
    status: 'paused',
    daysAgo: 70,
  },
]
