import { wiring } from '#runtime/wiring'
import { uploads } from './pictures.ts'
import { requestMessages } from './requests/lane.ts'
import { ordersChanged } from './requests/plan.ts'
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

export default wiring({
  uploads,
  ordersChanged: [ordersChanged],
  senders: { rv: requestMessages },
  templateUses: [templateUse],
  widgets: {
    reviews: { feature: 'reviews', build: reviewsWidget },
    testimonials: { feature: 'testimonials', build: testimonialsWidget },
  },
  contactReviews,
  approvedReviews: approvedSince,
  reviewedOrders,
  reviewRequests: asksByMessage,
  pending: { 'reviews-pending': pendingReviews },
  recentReviews: newestReviews,
  switches: { reviews: { activate: activateReviews }, testimonials: { activate: activateTestimonials } },
})
