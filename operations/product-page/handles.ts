/** Queue handles of the product page: each job's queue name and payload. */
import { exports } from '#operations/store/index'

export const wishlistExport = exports.handle('wishlist-export')
