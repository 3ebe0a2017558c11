import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { wishlistExport } from '../../handles.ts'

export default job(
  wishlistExport,
  exports.exportJob(wishlistExport, 'Emails the contacts of wishlists as CSV'),
)
