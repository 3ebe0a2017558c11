import { onReviewRequests, registerReviewed } from '#operations/automations/door'
import { registerReviews as registerAlertReviews } from '#operations/bars/door'
import { registerReviews } from '#operations/inbox/door'
import { sending, templates } from '#operations/messaging/door'
import { exports, home, onboarding, orders } from '#operations/store/door'
import { registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { registerPurposes } from './pictures.ts'
import { ordersChanged } from './requests/plan.ts'
import { applyStatuses } from './requests/results.ts'
import { reviewsExport } from './reviews/export.ts'
import {
  approvedSince,
  asksByMessage,
  contactReviews,
  newestReviews,
  pendingReviews,
  reviewedOrders,
  templateUse,
} from './reviews/for-others.ts'
import { reviewsWidget, testimonialsWidget } from './reviews/public.ts'
import { activateReviews } from './settings/settings.ts'
import { activateTestimonials } from './testimonials/settings.ts'

export default wiring(() => {
  registerPurposes()
  orders.onChange(ordersChanged)
  sending.onStatus('rv', applyStatuses)
  templates.registerUse(templateUse)
  exports.register('review-export', reviewsExport)
  registerWidget('reviews', { feature: 'reviews', build: reviewsWidget })
  registerWidget('testimonials', { feature: 'testimonials', build: testimonialsWidget })
  registerReviews(contactReviews)
  registerAlertReviews(approvedSince)
  registerReviewed(reviewedOrders)
  onReviewRequests(asksByMessage)
  home.registerPending('reviews-pending', pendingReviews)
  home.registerRecentReviews(newestReviews)
  onboarding.onActivate('reviews', activateReviews)
  onboarding.onActivate('testimonials', activateTestimonials)
})
