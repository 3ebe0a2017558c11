import { section } from '#runtime/operation'

export default section({
  title: 'Store and team',
  description:
    "The store's profile, its people, its onboarding, its home page and the catalog of its platform.",
  position: 2,
  order: [
    'get_store_information',
    'get_store_branding',
    'patch_store',
    'get_store',
    'get_stores_team',
    'post_stores_team_invitations',
    'delete_stores_team_invitations_by_id',
    'delete_stores_team_members_by_userId',
    'get_onboarding',
    'post_onboarding',
    'post_onboarding_activate_features',
    'get_dashboard',
    'get_dashboard_overview',
    'get_ecomplatform_products',
    'get_ecomplatform_categories',
  ],
})
