// The scheduler driver of a real libmesos, for tests: it does what standard input says and tells what it hears.
//
//   host LIBRARY
//
// Both ways a record is a number of parts, and each part a length and so many bytes; numbers are four bytes, the lowest
// first.  The first part names what is done or heard, the others are texts and serialized v0 messages.
// Only entry points are declared here: messages are handed over as bytes and stay opaque.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

// Python 2 symbols that the extension refers to and never uses here.
extern "C" {
#define STUB(name) void* name() { std::fprintf(stderr, "stub " #name " called\n"); std::abort(); }
STUB(PyArg_ParseTuple) STUB(PyDict_GetItemString) STUB(PyErr_Format) STUB(PyErr_Occurred)
STUB(PyErr_Print) STUB(PyEval_InitThreads) STUB(PyEval_RestoreThread) STUB(PyEval_SaveThread)
STUB(PyGILState_Ensure) STUB(PyGILState_Release) STUB(PyImport_ImportModule) STUB(PyInt_FromLong)
STUB(PyIter_Next) STUB(PyList_GetItem) STUB(PyList_New) STUB(PyList_SetItem) STUB(PyList_Size)
STUB(PyModule_AddObject) STUB(PyModule_GetDict) STUB(PyObject_CallMethod) STUB(PyObject_GetIter)
STUB(PyString_AsStringAndSize) STUB(PyType_Ready) STUB(Py_InitModule4_64)
char PyExc_Exception_[16], _Py_NoneStruct[64];
void* PyExc_Exception = PyExc_Exception_;
void* PyExc_TypeError = PyExc_Exception_;
}

// The size of a message is what its `New` asks for first; a constructor may ask for more.
static thread_local size_t asked;
void* operator new(size_t size) {
  if (!asked) asked = size;
  void* place = std::malloc(size ? size : 1);
  if (!place) throw std::bad_alloc();
  return place;
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, size_t) noexcept { std::free(place); }

static void* library;
template <class F> static F symbol(const std::string& name) {
  void* address = dlsym(library, name.c_str());
  if (!address) { std::fprintf(stderr, "no symbol %s\n", name.c_str()); std::exit(2); }
  return reinterpret_cast<F>(address);
}

// A mangled name inside namespace mesos: OfferID is 7OfferID.
static std::string mangled(const std::string& name) { return std::to_string(name.size()) + name; }

static size_t size_of(const std::string& name) {
  static std::map<std::string, size_t> known;
  size_t& size = known[name];
  if (!size) {
    alignas(16) static char made[1 << 14];
    symbol<void (*)(void*)>("_ZN5mesos" + mangled(name) + "C1Ev")(made);
    auto make_new = symbol<void* (*)(const void*, void*)>("_ZNK5mesos" + mangled(name) + "3NewEPN6google8protobuf5ArenaE");
    asked = 0;
    make_new(made, nullptr);
    size = asked;
  }
  return size;
}

static void make(const std::string& name, const std::string& bytes, void* place) {
  symbol<void (*)(void*)>("_ZN5mesos" + mangled(name) + "C1Ev")(place);
  static auto parse = symbol<bool (*)(void*, const std::string&)>(
      "_ZN6google8protobuf11MessageLite15ParseFromStringERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  if (!parse(place, bytes)) { std::fprintf(stderr, "not a %s\n", name.c_str()); std::exit(2); }
}

static std::string bytes_of(const void* message) {
  static auto serialize = symbol<bool (*)(const void*, std::string*)>(
      "_ZNK6google8protobuf11MessageLite17SerializeToStringEPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  std::string bytes;
  serialize(message, &bytes);
  return bytes;
}

// One message, or the elements of a vector of them: begin, end, end of the room.  Never destroyed.
static void* one(const std::string& name, const std::string& bytes) {
  void* place = std::calloc(1, size_of(name));
  make(name, bytes, place);
  return place;
}
struct Many { char* begin; char* end; char* room; };
static Many* many(const std::string& name, const std::vector<std::string>& all) {
  const size_t size = size_of(name);
  char* place = static_cast<char*>(std::calloc(all.size() + 1, size));
  for (size_t i = 0; i < all.size(); i++) make(name, all[i], place + i * size);
  return new Many{place, place + all.size() * size, place + all.size() * size};
}

using Parts = std::vector<std::string>;

static void put(uint32_t number) {
  for (int i = 0; i < 4; i++) std::putchar((number >> 8 * i) & 255);
}
static void tell(const Parts& parts) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  put(parts.size());
  for (const auto& part : parts) { put(part.size()); std::fwrite(part.data(), 1, part.size(), stdout); }
  std::fflush(stdout);
}
static bool get(uint32_t& number) {
  unsigned char four[4];
  if (std::fread(four, 1, 4, stdin) != 4) return false;
  number = four[0] | four[1] << 8 | four[2] << 16 | uint32_t(four[3]) << 24;
  return true;
}
static bool hear(Parts& parts) {
  uint32_t count, size;
  if (!get(count)) return false;
  parts.assign(count, "");
  for (auto& part : parts) {
    if (!get(size)) return false;
    part.resize(size);
    if (size && std::fread(&part[0], 1, size, stdin) != size) return false;
  }
  return true;
}

namespace mesos {
class SchedulerDriver;
class Scheduler {  // in Mesos's order
 public:
  virtual ~Scheduler() {}
  virtual void registered(SchedulerDriver*, const void* id, const void* master) { tell({"registered", bytes_of(id), bytes_of(master)}); }
  virtual void reregistered(SchedulerDriver*, const void* master) { tell({"reregistered", bytes_of(master)}); }
  virtual void disconnected(SchedulerDriver*) { tell({"disconnected"}); }
  virtual void resourceOffers(SchedulerDriver*, const Many& offers) {
    Parts parts{"resourceOffers"};
    for (const char* at = offers.begin; at < offers.end; at += size_of("Offer")) parts.push_back(bytes_of(at));
    tell(parts);
  }
  virtual void offerRescinded(SchedulerDriver*, const void* id) { tell({"offerRescinded", bytes_of(id)}); }
  virtual void statusUpdate(SchedulerDriver*, const void* status) { tell({"statusUpdate", bytes_of(status)}); }
  virtual void frameworkMessage(SchedulerDriver*, const void* executor, const void* agent, const std::string& data) {
    tell({"frameworkMessage", bytes_of(executor), bytes_of(agent), data});
  }
  virtual void slaveLost(SchedulerDriver*, const void* agent) { tell({"slaveLost", bytes_of(agent)}); }
  virtual void executorLost(SchedulerDriver*, const void* executor, const void* agent, int status) {
    tell({"executorLost", bytes_of(executor), bytes_of(agent), std::to_string(status)});
  }
  virtual void error(SchedulerDriver*, const std::string& message) { tell({"error", message}); }
};
}  // namespace mesos

#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
static const std::string DRIVER = "_ZN5mesos20MesosSchedulerDriver";
alignas(16) static char driver[1 << 14];
static mesos::Scheduler scheduler;

// Parts from one place on; how many of the first kind there are is a part of its own where two lists follow one another.
static Parts rest(const Parts& parts, size_t from) { return Parts(parts.begin() + from, parts.end()); }

template <class... A> static int call(const std::string& name, A... arguments) {
  return symbol<int (*)(void*, A...)>(DRIVER + name)(driver, arguments...);
}

static int perform(const Parts& parts) {
  const std::string& verb = parts[0];
  if (verb == "start") {  // master, FrameworkInfo, implicit acknowledgements, Credential or "", suppressed roles
    const Parts suppressed = rest(parts, 5);
    const std::string name = "C1EPNS_9SchedulerERKNS_13FrameworkInfoERKSt6vectorI" STRING "SaISC_EERKSC_b";
    void* info = one("FrameworkInfo", parts[2]);
    const bool implicit = parts[3] == "true";
    if (parts[4].empty()) {
      symbol<void (*)(void*, void*, void*, const Parts&, const std::string&, bool)>(DRIVER + name)(
          driver, &scheduler, info, suppressed, parts[1], implicit);
    } else {
      symbol<void (*)(void*, void*, void*, const Parts&, const std::string&, bool, void*)>(DRIVER + name + "RKNS_10CredentialE")(
          driver, &scheduler, info, suppressed, parts[1], implicit, one("Credential", parts[4]));
    }
    return call("5startEv");
  }
  if (verb == "accept") {  // Filters, number of offers, OfferIDs, operations
    const size_t offers = std::stoul(parts[2]);
    const Parts ids(parts.begin() + 3, parts.begin() + 3 + offers);
    return call("12acceptOffersERKSt6vectorINS_7OfferIDESaIS2_EERKS1_INS_15Offer_OperationESaIS7_EERKNS_7FiltersE",
                many("OfferID", ids), many("Offer_Operation", rest(parts, 3 + offers)), one("Filters", parts[1]));
  }
  if (verb == "launch") {  // Filters, number of offers, OfferIDs, tasks
    const size_t offers = std::stoul(parts[2]);
    const Parts ids(parts.begin() + 3, parts.begin() + 3 + offers);
    return call("11launchTasksERKSt6vectorINS_7OfferIDESaIS2_EERKS1_INS_8TaskInfoESaIS7_EERKNS_7FiltersE",
                many("OfferID", ids), many("TaskInfo", rest(parts, 3 + offers)), one("Filters", parts[1]));
  }
  if (verb == "decline")
    return call("12declineOfferERKNS_7OfferIDERKNS_7FiltersE", one("OfferID", parts[1]), one("Filters", parts[2]));
  if (verb == "revive" || verb == "suppress") {
    const std::string name = verb == "revive" ? "12reviveOffers" : "14suppressOffers";
    if (parts.size() == 1) return call(name + "Ev");
    return call(name + "ERKSt6vectorI" STRING "SaIS7_EE", new Parts(rest(parts, 1)));
  }
  if (verb == "kill") return call("8killTaskERKNS_6TaskIDE", one("TaskID", parts[1]));
  if (verb == "reconcile")
    return call("14reconcileTasksERKSt6vectorINS_10TaskStatusESaIS2_EE", many("TaskStatus", rest(parts, 1)));
  if (verb == "acknowledge")
    return call("23acknowledgeStatusUpdateERKNS_10TaskStatusE", one("TaskStatus", parts[1]));
  if (verb == "message")
    return call("20sendFrameworkMessageERKNS_10ExecutorIDERKNS_7SlaveIDERK" STRING, one("ExecutorID", parts[1]),
                one("SlaveID", parts[2]), &parts[3]);
  if (verb == "request")
    return call("16requestResourcesERKSt6vectorINS_7RequestESaIS2_EE", many("Request", rest(parts, 1)));
  if (verb == "update") {  // FrameworkInfo, suppressed roles
    alignas(16) static char constraints[1 << 12];
    symbol<void (*)(void*)>("_ZN5mesos9scheduler16OfferConstraintsC1Ev")(constraints);
    return call("15updateFrameworkERKNS_13FrameworkInfoERKSt6vectorI" STRING "SaISA_EEONS_9scheduler16OfferConstraintsE",
                one("FrameworkInfo", parts[1]), new Parts(rest(parts, 2)), static_cast<void*>(constraints));
  }
  if (verb == "stop") return call("4stopEb", parts[1] == "true");
  if (verb == "abort") return call("5abortEv");
  std::fprintf(stderr, "unknown: %s\n", verb.c_str());
  std::exit(2);
}

int main(int argc, char** argv) {
  library = argc == 2 ? dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL) : nullptr;
  if (!library) { std::fprintf(stderr, "usage: %s LIBRARY: %s\n", argv[0], argc == 2 ? dlerror() : ""); return 2; }
  for (Parts parts; hear(parts);) tell({"returned", std::to_string(perform(parts))});
  std::fflush(stdout);
  _exit(0);
}
