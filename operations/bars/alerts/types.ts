/** Types of alerts, with their default texts and variables (rule 4). */
import type { Wording } from '#runtime/values/wording'

export const alertTypes = [
  'recent-purchases',
  'purchase-count',
  'live-visitors',
  'product-views',
  'cart-adds',
  'recent-reviews',
  'low-stock',
] as const
export type AlertType = (typeof alertTypes)[number]

export interface AlertKind {
  words: { text: Wording }
  variables: readonly string[]
  windowHours: number
  minCount: number
}

export const alertKinds: Readonly<Record<AlertType, AlertKind>> = {
  'recent-purchases': {
    words: {
      text: {
        en: '{{firstName}} from {{city}} bought {{productName}}',
        'pt-BR': '{{firstName}} de {{city}} comprou {{productName}}',
        es: '{{firstName}} de {{city}} compró {{productName}}',
      },
    },
    variables: ['firstName', 'city', 'productName', 'quantity', 'timeAgo'],
    windowHours: 72,
    minCount: 1,
  },
  'purchase-count': {
    words: {
      text: {
        en: '{{count}} people bought this in the last {{hours}} hours',
        'pt-BR': '{{count}} pessoas compraram isto nas últimas {{hours}} horas',
        es: '{{count}} personas compraron esto en las últimas {{hours}} horas',
      },
    },
    variables: ['count', 'hours', 'productName'],
    windowHours: 48,
    minCount: 5,
  },
  'live-visitors': {
    words: {
      text: {
        en: '{{count}} people are looking at this now',
        'pt-BR': '{{count}} pessoas estão vendo isto agora',
        es: '{{count}} personas están viendo esto ahora',
      },
    },
    variables: ['count', 'productName'],
    windowHours: 1,
    minCount: 3,
  },
  'product-views': {
    words: {
      text: {
        en: '{{count}} views in the last {{hours}} hours',
        'pt-BR': '{{count}} visualizações nas últimas {{hours}} horas',
        es: '{{count}} visitas en las últimas {{hours}} horas',
      },
    },
    variables: ['count', 'hours', 'productName'],
    windowHours: 24,
    minCount: 20,
  },
  'cart-adds': {
    words: {
      text: {
        en: '{{count}} people added this to their cart',
        'pt-BR': '{{count}} pessoas colocaram isto no carrinho',
        es: '{{count}} personas agregaron esto a su carrito',
      },
    },
    variables: ['count', 'hours', 'productName'],
    windowHours: 24,
    minCount: 3,
  },
  'recent-reviews': {
    words: {
      text: {
        en: '{{firstName}} gave {{productName}} {{rating}} stars',
        'pt-BR': '{{firstName}} deu {{rating}} estrelas para {{productName}}',
        es: '{{firstName}} dio {{rating}} estrellas a {{productName}}',
      },
    },
    variables: ['firstName', 'productName', 'rating', 'reviewText', 'timeAgo'],
    windowHours: 720,
    minCount: 1,
  },
  'low-stock': {
    words: {
      text: {
        en: 'Only {{stock}} left of {{productName}}',
        'pt-BR': 'Restam apenas {{stock}} de {{productName}}',
        es: 'Solo quedan {{stock}} de {{productName}}',
      },
    },
    variables: ['stock', 'productName'],
    windowHours: 24,
    minCount: 1,
  },
}

const described: Record<string, { description: string; example: string }> = {
  firstName: { description: "The customer's first name, as nameFormat shows it", example: 'Ana' },
  city: { description: 'The city of the delivery', example: 'São Paulo' },
  productName: { description: 'The product', example: 'Caneca esmaltada' },
  quantity: { description: 'Units that were bought', example: '2' },
  timeAgo: { description: 'How long ago it was', example: '3 hours ago' },
  count: { description: 'How many people', example: '12' },
  hours: { description: 'The hours that are looked back on (windowHours)', example: '24' },
  rating: { description: 'Stars that were given, 1 to 5', example: '5' },
  reviewText: { description: 'How the review begins, at most 80 characters', example: 'Linda e resistente' },
  stock: { description: 'Units that are left', example: '3' },
}

export interface AlertVariable {
  name: string
  description: string
  example: string
  alertTypes: AlertType[]
}

/** Lists all variables or those of one alert type. Each entry names the types that support the variable. */
export const listVariables = (type?: AlertType): AlertVariable[] =>
  Object.entries(described)
    .filter(([name]) => !type || alertKinds[type].variables.includes(name))
    .map(([name, variable]) => ({
      name,
      ...variable,
      alertTypes: alertTypes.filter((each) => alertKinds[each].variables.includes(name)),
    }))

export const isAlertType = (text: string): text is AlertType =>
  (alertTypes as readonly string[]).includes(text)
