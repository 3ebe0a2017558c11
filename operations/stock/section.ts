import { section } from '#runtime/section'

export default section({
  title: 'Stock',
  description:
    'Shoppers leave an email or a phone for a sold-out product and are notified once, in order, when it returns. The counter shows how few are left.',
  position: 11,
  order: [
    'get_stock_notifications_metrics',
    'get_stock_notifications_export',
    'get_stock_notifications_list',
    'get_stock_notifications_settings',
    'post_stock_notifications_settings',
    'post_stock_notifications_send_single_by_notificationId',
    'post_stock_notifications_send_test_email',
    'get_stock_notifications_by_notificationId',
    'delete_stock_notifications_by_notificationId',
    'get_stock_counter_settings',
    'post_stock_counter_settings',
  ],
  words: {
    synonyms: ['stock inventory availability available restock'],
    sectionSynonyms: [
      'soldout stock sold',
      'waitlist waiting wait list subscription',
      'counter unit left few scarcity',
      'alert notific tell back',
    ],
    translations: [
      'estoque existencias inventario stock: stock',
      'esgotado agotado esgotar agotar sem_estoque sin_stock: soldout stock',
      'disponivel disponible: back available stock',
      'avisar_quando avisar_cuando: alert & back',
      'lista_de_espera: waitlist & stock waiting',
      'unidade unidad: unit left',
      'ultimas_unidades: left & stock counter',
      'poucas poucos pocas pocos: few',
    ],
  },
})
