import { section } from '#runtime/operation'

export default section({
  title: 'Promotions, bundles and gifts',
  description:
    'What the platform takes off at checkout: quantity promotions, bundles and gifts in the cart, each on the platform exactly when it exists here; and what the storefront says of them, and of paying by installments.',
  position: 12,
  order: [
    'get_promotions_settings',
    'put_promotions_settings',
    'get_promotions',
    'post_promotions',
    'patch_promotions_by_id',
    'patch_promotions_by_id_active',
    'delete_promotions_by_id',
    'get_bundles',
    'post_bundles',
    'patch_bundles_by_id',
    'patch_bundles_by_id_active',
    'delete_bundles_by_id',
    'get_cart_gifts',
    'post_cart_gifts',
    'patch_cart_gifts_by_id',
    'patch_cart_gifts_by_id_active',
    'delete_cart_gifts_by_id',
    'get_installments',
    'post_installments',
    'put_installments',
    'delete_installments_by_id',
    'put_installments_settings',
  ],
})
