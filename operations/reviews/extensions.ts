import { extensions } from '#runtime/extensions'
import { eraseShop, reviewerErasure } from './requests/erasure.ts'
import { requestMessages } from './requests/outbox-source.ts'
import { queuePlanning } from './requests/plan.ts'
import {
  contactReviews,
  findApprovedSince,
  findReviewedOrders,
  newestReviews,
  pendingReviews,
  sendsRequestsByMessage,
  templateUse,
} from './reviews/integrations.ts'
import { buildReviewCards, buildReviewsWidget, buildTestimonialsWidget } from './reviews/public.ts'
import { activateReviews } from './settings/settings.ts'
import { activateTestimonials } from './testimonials/settings.ts'
import { uploads } from './uploads.ts'

export default extensions({
  uploads,
  ordersChanged: [queuePlanning],
  personErasure: [reviewerErasure],
  shopErasure: [eraseShop],
  senders: { rv: requestMessages },
  templateUses: [templateUse],
  widgets: {
    reviews: { feature: 'reviews', build: buildReviewsWidget, cards: buildReviewCards },
    testimonials: { feature: 'testimonials', build: buildTestimonialsWidget },
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
  approvedReviews: findApprovedSince,
  reviewedOrders: findReviewedOrders,
  reviewRequests: sendsRequestsByMessage,
  pending: { 'reviews-pending': pendingReviews },
  recentReviews: newestReviews,
  featureActivators: {
    reviews: { activate: activateReviews },
    testimonials: { activate: activateTestimonials },
  },
})
