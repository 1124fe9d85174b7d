// Names what failed, and ends with `node-test: N passed, M failed`.

export default async function* reporter(source) {
  let passed = 0;
  let failed = 0;
  for await (const { type, data } of source) {
    if (type === 'test:pass' && data.details.type !== 'suite') passed++;
    if (type === 'test:fail' && data.details.type !== 'suite') {
      failed++;
      const { error } = data.details;
      yield `node-test: FAILED ${data.file ?? ''} ${data.name}\n${error.cause?.stack ?? error.stack ?? error}\n`;
    }
    if (type === 'test:stderr') yield data.message;
  }
  yield `node-test: ${passed} passed, ${failed} failed\n`;
}
