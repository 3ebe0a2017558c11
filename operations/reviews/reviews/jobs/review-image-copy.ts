import { job } from '#runtime/job'
import { reviewImageCopy } from '../../handles.ts'
import { copyImages } from '../image-copy.ts'

export default job(reviewImageCopy, {
  description: 'Copies the pictures of an imported review into the storage',
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 180,
  oneAtATimePer: ({ reviewId }) => reviewId,
  isBulk: true,
  safeTwice: 'A file is named by the hash of its address; a review that already has its pictures is skipped.',
  run: (ctx, { reviewId, urls }) => copyImages(ctx, reviewId, urls),
})
