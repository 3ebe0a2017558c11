import { section } from '#runtime/section'

export default section({
  title: 'Exchanges and returns',
  description:
    'A shopper asks on the storefront to exchange or return items; the store decides, says where to send them and confirms the end; the shopper is notified at every step.',
  position: 15,
  order: [
    'get_product_exchanges_settings',
    'post_product_exchanges_settings',
    'get_product_exchanges_metrics',
    'get_product_exchanges_requests',
    'get_product_exchanges_requests_by_id',
    'post_product_exchanges_requests_by_id_approve',
    'patch_product_exchanges_requests_by_id_address',
    'post_product_exchanges_requests_by_id_confirm',
    'post_product_exchanges_requests_by_id_reject',
    'delete_product_exchanges_requests_by_id',
    'get_product_exchanges_export',
  ],
  words: {
    synonyms: ['exchange return refund swap'],
    sectionSynonyms: [
      'request return back ask want',
      'approve accept',
      'reject refuse',
      'confirm arrived came back done',
      'settings policy rule day',
    ],
    translations: [
      'trocar troca cambio devolver devolucao devolucion reembolso reembolsar estorno: exchange return request',
      'prazo plazo: days settings',
    ],
  },
})
