import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('wishlist-export', 'Emails the contacts of wishlists as CSV'))
