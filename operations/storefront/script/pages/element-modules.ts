import { refuse } from '#runtime/errors'
import { answerCompressed } from '#runtime/http/compression-cache'
import { page } from '#runtime/page'
import { buildModules } from '../modules.ts'

export default page({
  method: 'GET',
  path: '/elements/:release/:file',
  description: "A module of the elements that a shop's pages show.",
  trust: 'Public: the same text for everybody.',
  cors: true,
  handler(system, request) {
    const { release, files } = buildModules(system.services.extensions)
    const file = files.get(request.params.file!)
    if (!file) throw refuse('not_found', 'There is no such module')
    // A page opened before a deploy requests the old release. It gets the current one with `no-store`.
    const isOurs = request.params.release === release
    const control = isOurs ? 'public, max-age=31536000, immutable' : 'no-store'
    return answerCompressed(file, request, { 'cache-control': control })
  },
})
