/** The demo's content blocks: one of each type. */
import { type BlockType, blockDesigns } from '#operations/product-page/content-blocks/designs'

export interface DemoBlock {
  name: string
  type: BlockType
  isActive: boolean
  design: object
  targeting?: object
  placement?: string
}

/** With the defaults of its type. */
export const designOf = (type: BlockType, design: object): object => blockDesigns[type].parse(design)

/** `picture`: where one is, by its name. */
export const blocksOf = (picture: (name: string) => string): readonly DemoBlock[] => [
  {
    name: 'Garantia padrão',
    type: 'warranty',
    isActive: true,
    placement: 'below-buy-button',
    design: {
      title: 'Garantia Aurora',
      duration: 12,
      durationUnit: 'months',
      coverageHtml: '<p>Cobrimos <strong>defeitos de fabricação</strong>. Fale conosco e trocamos.</p>',
      linkText: 'Ver condições',
      linkUrl: '/garantia',
    },
  },
  {
    name: 'Perguntas frequentes',
    type: 'faq',
    isActive: true,
    design: {
      title: 'Dúvidas',
      openFirst: true,
      items: [
        { question: 'Vai à lava-louças?', answerHtml: '<p>Sim, na grade de cima.</p>' },
        { question: 'Qual é o prazo de troca?', answerHtml: '<p>30 dias depois da entrega.</p>' },
        {
          question: 'Enviam para todo o Brasil?',
          answerHtml: '<p>Sim. <a href="/frete">Veja os prazos</a>.</p>',
        },
      ],
    },
  },
  {
    name: 'Comparação de canecas',
    type: 'comparison',
    isActive: true,
    targeting: { scope: 'products', productIds: ['1001', '1002'] },
    design: {
      title: 'Qual é a sua?',
      columns: [
        { title: 'Esta', productId: '1001', isHighlighted: true },
        { title: 'A grande', productId: '1002' },
      ],
      rows: [
        { label: 'Capacidade', cells: ['300 ml', '450 ml'] },
        { label: 'Micro-ondas', cells: [true, true] },
        { label: 'Tampa', cells: [false, true] },
      ],
    },
  },
  {
    name: 'A história do ateliê',
    type: 'rich-text',
    isActive: true,
    placement: 'page-bottom',
    design: {
      title: 'Feito à mão',
      html: '<p>Cada peça sai do nosso ateliê em <em>Cunha</em>, torneada e esmaltada à mão.</p><ul><li>Argila local</li><li>Esmalte sem chumbo</li></ul>',
    },
  },
  {
    name: 'Ficha técnica',
    type: 'specifications',
    isActive: true,
    targeting: { scope: 'categories', categoryIds: ['301'] },
    design: {
      layout: 'two-columns',
      rows: [
        { label: 'Material', value: 'Cerâmica de alta temperatura' },
        { label: 'Peso', value: '310 g' },
        { label: 'Origem', value: 'Cunha, SP' },
      ],
    },
  },
  {
    name: 'Por que comprar aqui',
    type: 'features',
    isActive: true,
    placement: 'below-price',
    design: {
      items: [
        { icon: 'truck', title: 'Envio em 24 h' },
        { icon: 'return', title: 'Troca grátis', text: 'Em até 30 dias' },
        { icon: 'lock', title: 'Compra segura' },
      ],
    },
  },
  {
    name: 'Campanha de fim de ano',
    type: 'image-banner',
    isActive: true,
    placement: 'page-bottom',
    design: {
      imageUrl: picture('banner'),
      mobileImageUrl: picture('banner-phone'),
      alt: 'Presentes de fim de ano',
      linkUrl: '/categories/presentes',
    },
  },
  {
    name: 'Antes e depois da esmaltação',
    type: 'before-after',
    isActive: false,
    design: {
      beforeImageUrl: picture('before'),
      afterImageUrl: picture('after'),
      beforeLabel: 'Antes',
      afterLabel: 'Depois',
    },
  },
  {
    name: 'Como cuidar',
    type: 'steps',
    isActive: false,
    design: {
      title: 'Cuidados',
      items: [
        { title: 'Lave à mão', textHtml: '<p>Com esponja macia.</p>' },
        { title: 'Seque bem', textHtml: '<p>Antes de guardar.</p>' },
        { title: 'Evite choques', textHtml: '<p>De temperatura e de quedas.</p>' },
      ],
    },
  },
]

export const borealisBlock: DemoBlock = {
  name: 'Shipping',
  type: 'features',
  isActive: true,
  design: { items: [{ icon: 'truck', title: 'Ships within two days' }] },
}
