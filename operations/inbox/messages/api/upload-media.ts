import { files } from '#operations/store/door'
import { operation } from '#runtime/operation'
import { createMediaUpload } from '../uploads.ts'

export default operation({
  method: 'POST',
  path: '/inbox/media/upload-url',
  description: 'Get a link to upload a file that will be sent or kept in a quick reply.',
  details:
    'Images (jpeg, png) to 5 MiB; videos (mp4, 3gpp) and audios (aac, amr, mpeg, mp4, ogg) to 16 MiB; documents to 100 MiB. What is not used within 24 hours is deleted.',
  words: 'attach a photo or document to a chat',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: files.uploadInput },
  answer: { status: 200, body: files.uploadAnswer },
  example: { body: { fileName: 'label.pdf', contentType: 'application/pdf', size: 48213 } },
  handler: (ctx, { body }) => createMediaUpload(ctx, body),
})
