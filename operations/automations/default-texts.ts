/** Default titles and default first messages per automation type, in Portuguese, English and Spanish. */
import type { AutomationType } from './types.ts'

export type Language = 'pt' | 'en' | 'es'
type Texts = Readonly<Record<AutomationType, Readonly<Record<Language, string>>>>

/** The language of a locale such as `pt-BR`; English for a language without default texts. */
export function toLanguage(locale: string): Language {
  const language = locale.toLowerCase().split('-')[0]
  return language === 'pt' || language === 'es' ? language : 'en'
}

export const defaultTitles: Texts = {
  'abandoned-cart': { pt: 'Carrinho abandonado', en: 'Abandoned cart', es: 'Carrito abandonado' },
  'order-created': { pt: 'Pedido recebido', en: 'Order received', es: 'Pedido recibido' },
  'payment-reminder': { pt: 'Lembrete de pagamento', en: 'Payment reminder', es: 'Recordatorio de pago' },
  'order-paid': { pt: 'Pagamento aprovado', en: 'Payment approved', es: 'Pago aprobado' },
  'order-shipped': { pt: 'Pedido enviado', en: 'Order shipped', es: 'Pedido enviado' },
  'order-delivered': { pt: 'Pedido entregue', en: 'Order delivered', es: 'Pedido entregado' },
  'order-cancelled': { pt: 'Pedido cancelado', en: 'Order cancelled', es: 'Pedido cancelado' },
  'post-purchase': { pt: 'Pós-compra', en: 'After the purchase', es: 'Poscompra' },
  'review-request': { pt: 'Pedido de avaliação', en: 'Review request', es: 'Solicitud de reseña' },
  cashback: { pt: 'Cashback', en: 'Cashback', es: 'Cashback' },
  'win-back': { pt: 'Sentimos sua falta', en: 'Win back', es: 'Te extrañamos' },
  birthday: { pt: 'Aniversário', en: 'Birthday', es: 'Cumpleaños' },
}

export const defaultTexts: Texts = {
  'abandoned-cart': {
    pt: 'Olá {{firstName|cliente}}! Você deixou {{cartItems}} no carrinho da {{storeName}}. Finalize sua compra: {{cartUrl}}',
    en: 'Hi {{firstName|there}}! You left {{cartItems}} in your cart at {{storeName}}. Finish your purchase: {{cartUrl}}',
    es: '¡Hola {{firstName|cliente}}! Dejaste {{cartItems}} en tu carrito de {{storeName}}. Termina tu compra: {{cartUrl}}',
  },
  'order-created': {
    pt: 'Olá {{firstName|cliente}}! Recebemos seu pedido {{orderNumber}} na {{storeName}}, no total de {{orderTotal}}. Obrigado!',
    en: 'Hi {{firstName|there}}! We received your order {{orderNumber}} at {{storeName}}, {{orderTotal}} in total. Thank you!',
    es: '¡Hola {{firstName|cliente}}! Recibimos tu pedido {{orderNumber}} en {{storeName}}, por un total de {{orderTotal}}. ¡Gracias!',
  },
  'payment-reminder': {
    pt: 'Olá {{firstName|cliente}}! O pagamento do seu pedido {{orderNumber}}, de {{orderTotal}}, ainda está pendente. {{paymentUrl}}',
    en: 'Hi {{firstName|there}}! The payment of your order {{orderNumber}}, {{orderTotal}}, is still pending. {{paymentUrl}}',
    es: '¡Hola {{firstName|cliente}}! El pago de tu pedido {{orderNumber}}, de {{orderTotal}}, sigue pendiente. {{paymentUrl}}',
  },
  'order-paid': {
    pt: 'Olá {{firstName|cliente}}! O pagamento do seu pedido {{orderNumber}} foi aprovado. Já estamos preparando tudo.',
    en: 'Hi {{firstName|there}}! The payment of your order {{orderNumber}} was approved. We are getting it ready.',
    es: '¡Hola {{firstName|cliente}}! El pago de tu pedido {{orderNumber}} fue aprobado. Ya lo estamos preparando.',
  },
  'order-shipped': {
    pt: 'Olá {{firstName|cliente}}! Seu pedido {{orderNumber}} foi enviado. {{trackingCode}} {{trackingUrl}}',
    en: 'Hi {{firstName|there}}! Your order {{orderNumber}} was shipped. {{trackingCode}} {{trackingUrl}}',
    es: '¡Hola {{firstName|cliente}}! Tu pedido {{orderNumber}} fue enviado. {{trackingCode}} {{trackingUrl}}',
  },
  'order-delivered': {
    pt: 'Olá {{firstName|cliente}}! Seu pedido {{orderNumber}} foi entregue. Esperamos que goste!',
    en: 'Hi {{firstName|there}}! Your order {{orderNumber}} was delivered. We hope you like it!',
    es: '¡Hola {{firstName|cliente}}! Tu pedido {{orderNumber}} fue entregado. ¡Esperamos que te guste!',
  },
  'order-cancelled': {
    pt: 'Olá {{firstName|cliente}}! Seu pedido {{orderNumber}} foi cancelado. Se precisar de algo, responda esta mensagem.',
    en: 'Hi {{firstName|there}}! Your order {{orderNumber}} was cancelled. If you need anything, just reply.',
    es: '¡Hola {{firstName|cliente}}! Tu pedido {{orderNumber}} fue cancelado. Si necesitas algo, responde a este mensaje.',
  },
  'post-purchase': {
    pt: 'Olá {{firstName|cliente}}! Obrigado por comprar {{productName}} na {{storeName}}. Veja as novidades: {{storeUrl}}',
    en: 'Hi {{firstName|there}}! Thank you for buying {{productName}} at {{storeName}}. See what is new: {{storeUrl}}',
    es: '¡Hola {{firstName|cliente}}! Gracias por comprar {{productName}} en {{storeName}}. Mira las novedades: {{storeUrl}}',
  },
  'review-request': {
    pt: 'Olá {{firstName|cliente}}! O que achou de {{productName}}? Conte para nós respondendo esta mensagem.',
    en: 'Hi {{firstName|there}}! How do you like {{productName}}? Tell us by replying to this message.',
    es: '¡Hola {{firstName|cliente}}! ¿Qué te pareció {{productName}}? Cuéntanos respondiendo a este mensaje.',
  },
  cashback: {
    pt: 'Olá {{firstName|cliente}}! Você ganhou {{cashbackAmount}} de volta na {{storeName}}. Use o cupom {{couponCode}} até {{couponExpiresAt}}.',
    en: 'Hi {{firstName|there}}! You got {{cashbackAmount}} back at {{storeName}}. Use the coupon {{couponCode}} until {{couponExpiresAt}}.',
    es: '¡Hola {{firstName|cliente}}! Recibiste {{cashbackAmount}} de vuelta en {{storeName}}. Usa el cupón {{couponCode}} hasta el {{couponExpiresAt}}.',
  },
  'win-back': {
    pt: 'Olá {{firstName|cliente}}! Faz {{daysSinceOrder}} dias que você não passa na {{storeName}}. Veja as novidades: {{storeUrl}}',
    en: 'Hi {{firstName|there}}! It has been {{daysSinceOrder}} days since your last order at {{storeName}}. See what is new: {{storeUrl}}',
    es: '¡Hola {{firstName|cliente}}! Hace {{daysSinceOrder}} días que no pasas por {{storeName}}. Mira las novedades: {{storeUrl}}',
  },
  birthday: {
    pt: 'Feliz aniversário, {{firstName|cliente}}! A {{storeName}} deseja um dia muito especial para você. {{storeUrl}}',
    en: 'Happy birthday, {{firstName|there}}! {{storeName}} wishes you a wonderful day. {{storeUrl}}',
    es: '¡Feliz cumpleaños, {{firstName|cliente}}! {{storeName}} te desea un día muy especial. {{storeUrl}}',
  },
}
