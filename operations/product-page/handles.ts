/** The jobs of product page that are queued, by whoever does: a queue's name, and what it is told. */
import { exports } from '#operations/store/door'

export const wishlistExport = exports.handle('wishlist-export')
