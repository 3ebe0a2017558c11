import { wiring } from '#runtime/wiring'
import { uploads } from './pictures.ts'
import { forgetShop, forgetsReviewers } from './requests/forget.ts'
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
import { reviewCards, reviewsWidget, testimonialsWidget } from './reviews/public.ts'
import { activateReviews } from './settings/settings.ts'
import { activateTestimonials } from './testimonials/settings.ts'

export default wiring({
  uploads,
  ordersChanged: [ordersChanged],
  personForgotten: [forgetsReviewers],
  shopForgotten: [forgetShop],
  senders: { rv: requestMessages },
  templateUses: [templateUse],
  widgets: {
    reviews: { feature: 'reviews', build: reviewsWidget, cards: reviewCards },
    testimonials: { feature: 'testimonials', build: testimonialsWidget },
  },
  elements: [
    {
      tag: 'store-stars',
      widget: 'reviews',
      module: new URL('reviews/elements/store-stars.js', import.meta.url),
      pages: '*',
    },
    {
      tag: 'store-reviews',
      widget: 'reviews',
      module: new URL('reviews/elements/store-reviews.js', import.meta.url),
      pages: ['product'],
    },
    {
      tag: 'store-testimonials',
      widget: 'testimonials',
      module: new URL('testimonials/elements/store-testimonials.js', import.meta.url),
      pages: '*',
    },
  ],
  contactReviews,
  approvedReviews: approvedSince,
  reviewedOrders,
  reviewRequests: asksByMessage,
  pending: { 'reviews-pending': pendingReviews },
  recentReviews: newestReviews,
  switches: { reviews: { activate: activateReviews }, testimonials: { activate: activateTestimonials } },
})
