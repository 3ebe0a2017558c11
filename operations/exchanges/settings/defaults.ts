/** Default settings, used until a store saves its own. */
import { buildWording, getEnglishTexts, getText, type Wording, type Words } from '#runtime/values/wording'
import type { ExchangeContent } from './schema.ts'

/** Labels of the built-in reasons, by key. */
const reasonWords: Readonly<Record<string, Wording>> = {
  'wrong-size': { en: 'Wrong size', 'pt-BR': 'Tamanho errado', es: 'Talla equivocada' },
  'changed-mind': { en: 'I changed my mind', 'pt-BR': 'Mudei de ideia', es: 'He cambiado de opinión' },
  defective: { en: 'It is defective', 'pt-BR': 'Está com defeito', es: 'Tiene un defecto' },
  'damaged-in-transit': {
    en: 'It was damaged on the way',
    'pt-BR': 'Foi danificado no transporte',
    es: 'Se dañó en el envío',
  },
  'wrong-item': {
    en: 'I got the wrong item',
    'pt-BR': 'Recebi o produto errado',
    es: 'Recibí otro artículo',
  },
  'not-as-described': {
    en: 'It is not as described',
    'pt-BR': 'Não é como na descrição',
    es: 'No es como en la descripción',
  },
  other: { en: 'Another reason', 'pt-BR': 'Outro motivo', es: 'Otro motivo' },
}

/** Returns a reason's label in the store's language if the stored label is built-in; a label of the merchant stays. */
export function localizeReason(key: string, label: string, locale: string): string {
  const words = reasonWords[key]
  return words && Object.values(words).includes(label) ? getText(words, locale) : label
}

const condition = {
  en: 'Unused, with its tags and packaging',
  'pt-BR': 'Sem uso, com etiquetas e embalagem',
  es: 'Sin usar, con sus etiquetas y su embalaje',
}
const byPost = { en: 'Send it by post', 'pt-BR': 'Enviar pelos correios', es: 'Enviarlo por correo' }

const mail = (subject: Wording, news: Wording): { subject: Wording; body: Wording } => ({
  subject: buildWording((say) => `${say(subject)} ({{requestNumber}})`),
  body: buildWording((say) => `${say(greeting)}\n\n${say(news)}\n\n${say(follow)}\n\n{{storeName}}`),
})
const greeting = {
  en: 'Hello {{firstName|there}},',
  'pt-BR': 'Olá {{firstName|cliente}},',
  es: 'Hola {{firstName|cliente}},',
}
const follow = {
  en: 'Follow it here: {{statusUrl}}',
  'pt-BR': 'Acompanhe aqui: {{statusUrl}}',
  es: 'Síguelo aquí: {{statusUrl}}',
}

export const exchangeWords = {
  texts: {
    pageTitle: {
      en: 'Exchanges and returns',
      'pt-BR': 'Trocas e devoluções',
      es: 'Cambios y devoluciones',
    },
    successMessage: {
      en: 'We received your request.',
      'pt-BR': 'Recebemos sua solicitação.',
      es: 'Hemos recibido tu solicitud.',
    },
    outsideWindowMessage: {
      en: 'The period for exchanges has ended for this order.',
      'pt-BR': 'O prazo de troca deste pedido terminou.',
      es: 'El plazo de cambio de este pedido ha terminado.',
    },
    buttonText: { en: 'Request', 'pt-BR': 'Solicitar', es: 'Solicitar' },
  },
  emails: {
    requested: mail(
      {
        en: 'We received your request',
        'pt-BR': 'Recebemos sua solicitação',
        es: 'Hemos recibido tu solicitud',
      },
      {
        en: 'We received your request for order {{orderNumber}}: {{items}}.',
        'pt-BR': 'Recebemos sua solicitação sobre o pedido {{orderNumber}}: {{items}}.',
        es: 'Hemos recibido tu solicitud sobre el pedido {{orderNumber}}: {{items}}.',
      },
    ),
    approved: mail(
      {
        en: 'Your request was approved',
        'pt-BR': 'Sua solicitação foi aprovada',
        es: 'Tu solicitud se ha aprobado',
      },
      {
        en: 'Your request for {{items}} was approved. Send to: {{returnAddress}} {{returnCode}} {{labelUrl}}',
        'pt-BR':
          'Sua solicitação de {{items}} foi aprovada. Envie para: {{returnAddress}} {{returnCode}} {{labelUrl}}',
        es: 'Tu solicitud de {{items}} se ha aprobado. Envíalo a: {{returnAddress}} {{returnCode}} {{labelUrl}}',
      },
    ),
    addressChanged: mail(
      {
        en: 'The return address changed',
        'pt-BR': 'O endereço de devolução mudou',
        es: 'La dirección de devolución ha cambiado',
      },
      {
        en: 'Please send your items to: {{returnAddress}}',
        'pt-BR': 'Envie seus produtos para: {{returnAddress}}',
        es: 'Envía tus artículos a: {{returnAddress}}',
      },
    ),
    received: mail(
      { en: 'Your items arrived', 'pt-BR': 'Seus produtos chegaram', es: 'Tus artículos han llegado' },
      {
        en: 'We received your items: {{items}}.',
        'pt-BR': 'Recebemos seus produtos: {{items}}.',
        es: 'Hemos recibido tus artículos: {{items}}.',
      },
    ),
    completed: mail(
      {
        en: 'Your request is complete',
        'pt-BR': 'Sua solicitação foi concluída',
        es: 'Tu solicitud está completa',
      },
      {
        en: 'Your request for order {{orderNumber}} is complete.',
        'pt-BR': 'Sua solicitação sobre o pedido {{orderNumber}} foi concluída.',
        es: 'Tu solicitud sobre el pedido {{orderNumber}} está completa.',
      },
    ),
    rejected: mail(
      { en: 'About your request', 'pt-BR': 'Sobre sua solicitação', es: 'Sobre tu solicitud' },
      {
        en: 'We cannot accept your request: {{rejectionReason}}',
        'pt-BR': 'Não podemos aceitar sua solicitação: {{rejectionReason}}',
        es: 'No podemos aceptar tu solicitud: {{rejectionReason}}',
      },
    ),
    expired: mail(
      {
        en: 'Your request has expired',
        'pt-BR': 'Sua solicitação expirou',
        es: 'Tu solicitud ha caducado',
      },
      {
        en: 'The items of your request were not sent by {{deadline}}.',
        'pt-BR': 'Os produtos da sua solicitação não foram enviados até {{deadline}}.',
        es: 'Los artículos de tu solicitud no se enviaron antes del {{deadline}}.',
      },
    ),
  },
  conditions: () => condition,
  reasons: ({ key }: ExchangeContent['reasons'][number]) => {
    const label = reasonWords[key]
    return label && { label }
  },
  returnMethods: () => ({ label: byPost }),
} satisfies Words<ExchangeContent>

const texts = getEnglishTexts(exchangeWords)

const reason = (key: string, needs: { photo?: true; comment?: true } = {}) => ({
  key,
  label: reasonWords[key]!.en,
  types: ['exchange' as const, 'return' as const],
  requiresPhoto: needs.photo === true,
  requiresComment: needs.comment === true,
  isActive: true,
})

const enabledMail = <Mail>(mail: Mail) => ({ isEnabled: true, ...mail })

const noMessage = { text: null, officialapiTemplateId: null }

export const defaultSettings: ExchangeContent = {
  isEnabled: false,
  windowDays: 30,
  returnWindowDays: null,
  windowFrom: 'delivered',
  allowOutsideWindow: false,
  types: ['exchange', 'return'],
  exchangeScope: 'same-product',
  conditions: [condition.en],
  excludedProductIds: [],
  excludedCategoryIds: [],
  excludeDiscountedItems: false,
  oneOpenRequestPerOrder: false,
  autoApprove: false,
  maxPhotos: 5,
  refundMethods: ['original-payment'],
  shippingDeadlineDays: 28,
  reasons: [
    reason('wrong-size'),
    reason('changed-mind'),
    reason('defective', { photo: true }),
    reason('damaged-in-transit', { photo: true }),
    reason('wrong-item', { photo: true }),
    reason('not-as-described'),
    reason('other', { comment: true }),
  ],
  returnMethods: [{ method: 'customer-ships', label: byPost.en, instructions: null, isEnabled: true }],
  returnAddress: null,
  texts: { ...texts.texts, intro: null, policy: null },
  emails: {
    requested: enabledMail(texts.emails.requested),
    approved: enabledMail(texts.emails.approved),
    addressChanged: enabledMail(texts.emails.addressChanged),
    received: enabledMail(texts.emails.received),
    completed: enabledMail(texts.emails.completed),
    rejected: enabledMail(texts.emails.rejected),
    expired: enabledMail(texts.emails.expired),
  },
  messaging: {
    isEnabled: false,
    requested: noMessage,
    approved: noMessage,
    addressChanged: noMessage,
    received: noMessage,
    completed: noMessage,
    rejected: noMessage,
    expired: noMessage,
  },
}
