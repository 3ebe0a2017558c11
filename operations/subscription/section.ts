import { section } from '#runtime/section'

export default section({
  title: 'Subscription',
  description: 'The plan of the store: its trial, checkouts, payments, changes of plan, coupons and usage.',
  position: 16,
  order: [
    'get_subscription',
    'get_subscription_payments',
    'get_subscription_checkout_result',
    'get_subscription_trial',
    'get_subscription_usage',
    'get_subscription_pre_approval',
    'post_subscription_cancel',
    'post_subscription_create_preapproval',
    'post_subscription_validate_coupon',
    'post_subscription_update_plan',
    'post_subscription_resume',
    'post_subscription_card_update',
  ],
  words: {
    synonyms: ['plan subscription tier billing', 'payment invoice bill charge receipt', 'trial free'],
    sectionSynonyms: [
      'card credit pay new',
      'trial day left period',
      'cancel leave end pay',
      'usage message left',
      'update upgrade downgrade move bigger smaller change',
      'price pay cost',
      'next bill charge',
    ],
    translations: [
      'pagar pagamento pago: pay payment',
      'cobrar cobranca cobro cobraram cobraron: charge payment',
      'cartao tarjeta: card',
      'fatura factura boleto recibo: invoice payment',
      'plano plan assinatura suscripcion mensalidade: plan subscription',
      'teste_gratis prueba_gratis periodo_de_prueba periodo_de_teste periodo_gratis: trial',
      'proximo proxima: next',
    ],
  },
})
