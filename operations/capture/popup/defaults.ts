/** Default settings of a popup that was never saved. */
import { getEnglishTexts, type Words } from '#runtime/values/wording'
import type { PopupCoupon, PopupSettings } from './schema.ts'

export const defaultCoupon: PopupCoupon = {
  mode: 'shared',
  code: null,
  prefix: null,
  type: 'percentage',
  value: 10,
  minimumAmount: null,
  validDays: null,
}
export const defaultPrizeColour = '#6366f1'

export const popupWords = {
  texts: {
    title: {
      en: 'Join our newsletter',
      'pt-BR': 'Assine nossa newsletter',
      es: 'Suscríbete a nuestro boletín',
    },
    description: {
      en: 'Get news and offers first.',
      'pt-BR': 'Receba novidades e ofertas antes de todos.',
      es: 'Recibe novedades y ofertas antes que nadie.',
    },
    emailPlaceholder: { en: 'Your email', 'pt-BR': 'Seu e-mail', es: 'Tu correo electrónico' },
    phonePlaceholder: { en: 'Your phone', 'pt-BR': 'Seu telefone', es: 'Tu teléfono' },
    namePlaceholder: { en: 'Your name', 'pt-BR': 'Seu nome', es: 'Tu nombre' },
    buttonText: { en: 'Subscribe', 'pt-BR': 'Quero receber', es: 'Suscribirme' },
    consentText: {
      en: 'I agree to receive news and offers from this store.',
      'pt-BR': 'Concordo em receber novidades e ofertas desta loja.',
      es: 'Acepto recibir novedades y ofertas de esta tienda.',
    },
    successTitle: { en: 'Thank you!', 'pt-BR': 'Obrigado!', es: '¡Gracias!' },
    successMessage: {
      en: 'You are on the list.',
      'pt-BR': 'Seu cadastro está na lista.',
      es: 'Ya estás en la lista.',
    },
    alreadySubscribedMessage: {
      en: 'You are on the list already.',
      'pt-BR': 'Seu cadastro já estava na lista.',
      es: 'Ya estabas en la lista.',
    },
    errorMessage: {
      en: 'Something went wrong. Please try again.',
      'pt-BR': 'Algo deu errado. Tente novamente.',
      es: 'Algo salió mal. Inténtalo de nuevo.',
    },
    closeText: { en: 'No, thank you', 'pt-BR': 'Não, obrigado', es: 'No, gracias' },
    spinText: { en: 'Spin', 'pt-BR': 'Girar', es: 'Girar' },
  },
} satisfies Words<PopupSettings>

export const defaultPopup: PopupSettings = {
  isEnabled: false,
  layout: 'modal',
  position: 'center',
  design: {
    backgroundColor: '#ffffff',
    textColor: '#1f2937',
    buttonColor: '#111827',
    buttonTextColor: '#ffffff',
    overlayColor: '#00000080',
    borderRadius: 12,
    fontFamily: null,
    imageUrl: null,
    logoUrl: null,
    imagePosition: 'none',
    customCss: null,
  },
  ...getEnglishTexts(popupWords),
  fields: {
    email: { enabled: true, required: true },
    phone: { enabled: false, required: false },
    name: { enabled: false, required: false },
  },
  consentRequired: true,
  coupon: { enabled: false, ...defaultCoupon },
  couponDelivery: 'screen',
  roulette: { enabled: false, prizes: [] },
  display: {
    delaySeconds: 5,
    scrollPercent: null,
    exitIntent: false,
    frequency: 'days',
    frequencyDays: 7,
    hideAfterSubscribe: true,
    devices: 'all',
    visitors: 'all',
    pageMode: 'all',
    pagePatterns: [],
    startsAt: null,
    endsAt: null,
    teaserEnabled: false,
    teaserText: null,
  },
  contactListId: null,
  isMailproviderEnabled: false,
}
