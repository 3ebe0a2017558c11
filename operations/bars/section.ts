import { section } from '#runtime/section'

export default section({
  title: 'Storefront bars and alerts',
  description:
    'Banners on the shop’s pages: progress towards free shipping, a countdown with announcements, buttons; and small alerts made only from real events in the store.',
  position: 13,
  order: [
    'get_free_shipping_bar_settings',
    'post_free_shipping_bar_settings',
    'get_free_shipping_bar_threshold_suggestion',
    'post_flash_countdown_bar_settings',
    'get_flash_countdown_bar_settings',
    'get_action_bar_settings',
    'post_action_bar_settings',
    'post_action_bar_deactivate',
    'get_fomo_alerts',
    'get_fomo_alerts_variables',
    'get_fomo_alerts_by_alertType',
    'post_fomo_alerts_create',
    'put_fomo_alerts_update',
  ],
  words: {
    synonyms: ['ship shipping delivery freight postage', 'bar banner strip ribbon', 'countdown timer clock'],
    sectionSynonyms: [
      'countdown hurry until end sale announcement',
      'threshold amount',
      'fomo alert popup urgency social proof live',
      'alert someone bought buy purchase look watch',
      'suggestion advise recommend should',
      'action button',
    ],
    translations: [
      'frete envio entrega despacho: shipping delivery',
      'frete_gratis envio_gratis entrega_gratis: free & shipping',
      'faixa barra tarja franja cinta banner: bar',
      'contagem contador cronometro cuenta relogio reloj temporizador: countdown clock',
      'contagem_regressiva cuenta_regressiva cuenta_regresiva cuenta_atras: countdown',
      'monto: amount',
      'a_partir_de_que_valor desde_que_monto a_partir_de_quanto desde_cuanto valor_minimo monto_minimo: threshold amount',
      'viendo olhando mirando veem estao_vendo estan_viendo: view people fomo',
      'topo arriba cima: top',
    ],
  },
})
