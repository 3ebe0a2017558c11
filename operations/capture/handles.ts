/** Queue handles of lead capture: each job's queue name and payload. */
import { exports } from '#operations/store/index'
import { handle } from '#runtime/jobs/handle'
import { id, object } from '#runtime/schema'

export const contactFormExport = exports.handle('contact-form-export')

export const contactFormNotify = handle('contact-form-notify', object({ submissionId: id }))

export const mailproviderPull = handle('mailprovider-pull', object({}))

export const mailproviderPush = handle('mailprovider-push', object({ subscriberId: id }))

export const mailproviderSync = handle('mailprovider-sync', object({ syncId: id }))

export const newsletterCouponEmail = handle('newsletter-coupon-email', object({ subscriberId: id }))

export const newsletterCoupon = handle('newsletter-coupon', object({ subscriberId: id }))

export const newsletterExport = exports.handle('newsletter-export')
