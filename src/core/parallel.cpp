// Teams of threads that run sections, the parallel loops of `parallel.hpp`.
//
// Starting 15 threads takes 0.3 to 0.5 ms, as long as a section for a few thousand rows. So the threads of a
// team are kept: after a section they spin for a moment, because the next section of the same call follows
// soon. Then they sleep, and end if there is no section for a tenth of a second.
#include "parallel.hpp"

#include <cfenv>
#include <condition_variable>
#include <exception>
#include <list>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace isodepth {

using namespace std::chrono_literals;

// State of one section, shared by the threads that take part.
class Section {
  public:
    const int64_t workers;

    Section(int64_t workers, int64_t parts, PartFunction function)
        : workers(workers), parts_(parts), function_(function) {}

    // Work until no part is left. Every thread calls it once.
    void work() {
        const int64_t worker = next_worker_++;
        if (worker >= workers) return;
        try {
            Check check(&failed_);
            for (int64_t i; (i = next_part_++) < parts_; check())
                function_.call(function_.work, worker, i, check);
        } catch (...) {
            std::lock_guard<std::mutex> held(guard_);
            if (!error_) error_ = std::current_exception();
            failed_ = true;
        }
    }

    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    const int64_t parts_;
    const PartFunction function_;
    std::atomic<int64_t> next_worker_{0}, next_part_{0};
    std::atomic<bool> failed_{false};
    std::exception_ptr error_;
    std::mutex guard_;
};

// Call `ready` until it returns true, for at most 50 microseconds. Return its last result. Other threads may
// use the core meanwhile.
static bool spin(auto ready) {
    const auto stop = std::chrono::steady_clock::now() + 50us;
    do {
        for (int i = 0; i < 32; i++)
            if (ready()) return true;
        std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < stop);
    return ready();
}

// A calling thread with helper threads. One section at a time.
class Team {
  public:
    void run(Section& section) {
        std::fegetenv(&rounding_);
        section_ = &section;
        inside_.store(0, std::memory_order_release);
        turn_++;
        call_helpers(section.workers - 1);
        section.work();
        // Helpers that have not yet started are not waited for.
        inside_ += closed;
        auto empty = [&] { return inside_.load(std::memory_order_acquire) == closed; };
        if (spin(empty)) return;
        std::unique_lock<std::mutex> held(guard_);
        left_.wait(held, empty);
    }

    // End all helpers. There must not be a section.
    void end() {
        {
            std::lock_guard<std::mutex> held(guard_);
            ended_ = true;
        }
        wake_.notify_all();
        for (Helper& helper : helpers_) helper.thread.join();
        helpers_.clear();
        ended_ = false;
    }

  private:
    struct Helper {
        std::thread thread;
        bool finished = false;  // protected by guard_
    };
    // Value of `inside_` if there is no section. It is so small that `inside_` is negative for any number of
    // helpers.
    static constexpr int64_t closed = std::numeric_limits<int64_t>::min() / 2;

    Section* section_ = nullptr;           // may be read by threads that are counted in `inside_`
    std::fenv_t rounding_;                 // rounding mode of the calling thread, which helpers adopt
    std::atomic<int64_t> inside_{closed};  // number of helpers in the section
    std::atomic<uint64_t> turn_{0};        // number of sections so far
    std::mutex guard_;
    std::condition_variable wake_, left_;
    int64_t sleeping_ = 0;
    bool ended_ = false;
    std::list<Helper> helpers_;

    void call_helpers(int64_t count) {
        std::unique_lock<std::mutex> held(guard_);
        helpers_.remove_if([](Helper& helper) {
            if (helper.finished) helper.thread.join();
            return helper.finished;
        });
        try {
            while (int64_t(helpers_.size()) < count) {
                Helper& helper = helpers_.emplace_back();
                helper.thread = std::thread([this, &helper, seen = turn_ - 1] { help(helper, seen); });
            }
        } catch (const std::exception&) {
            // If the system refuses another thread, the threads that were started do all the work.
            helpers_.remove_if([](const Helper& helper) { return !helper.thread.joinable(); });
        }
        const int64_t sleeping = sleeping_;
        // A helper that wakes up needs the lock, so it must not be held here.
        held.unlock();
        if (sleeping <= count) wake_.notify_all();
        else
            for (int64_t i = 0; i < count; i++) wake_.notify_one();
    }

    // Take part in every section after section number `seen`, until there is none for a while.
    void help(Helper& helper, uint64_t seen) {
        auto called = [&] { return turn_ != seen || ended_; };
        for (;;) {
            if (!spin([&] { return turn_ != seen; })) {
                std::unique_lock<std::mutex> held(guard_);
                sleeping_++;
                const bool in_time = wake_.wait_for(held, 100ms, called);
                sleeping_--;
                if (!in_time || ended_) return void(helper.finished = true);
            }
            seen = turn_;
            if (!enter()) continue;
            std::fesetenv(&rounding_);
            section_->work();
            if (--inside_ != closed) continue;
            std::lock_guard<std::mutex> held(guard_);
            left_.notify_one();
        }
    }

    bool enter() {
        int64_t count = inside_;
        while (count >= 0 && !inside_.compare_exchange_weak(count, count + 1)) continue;
        return count >= 0;
    }
};

// Teams without a section. A thread that runs a section borrows one of them. They are never destroyed,
// because daemon threads of Python may run sections until the process ends.
struct IdleTeams {
    std::mutex guard;
    std::vector<std::unique_ptr<Team>> teams;
    size_t made = 0;
    bool exited = false;  // whether Python has exited

    std::unique_ptr<Team> take() {
        std::lock_guard<std::mutex> held(guard);
        if (teams.empty()) {
            teams.reserve(++made);  // so that `give` does not allocate
            return std::make_unique<Team>();
        }
        std::unique_ptr<Team> team = std::move(teams.back());
        teams.pop_back();
        return team;
    }
    void give(std::unique_ptr<Team> team) {
        std::unique_lock<std::mutex> held(guard);
        if (!exited) return teams.push_back(std::move(team));
        held.unlock();
        team->end();
    }
    // End the helpers of all teams. The caller holds the lock.
    void end() {
        for (auto& team : teams) team->end();
    }
};
static IdleTeams& idle_teams = *new IdleTeams;

void run_section(int64_t workers, int64_t parts, PartFunction function) {
    Section section(std::min(workers, parts), parts, function);
    if (section.workers <= 1) section.work();
    else {
        std::unique_ptr<Team> team = idle_teams.take();
        team->run(section);
        idle_teams.give(std::move(team));
    }
    section.rethrow();
}

void end_threads_at_fork_and_exit() {
    // The end of Python, not of static variables: a thread cannot be joined in a DLL that is being unloaded.
    Py_AtExit([] {
        std::lock_guard<std::mutex> held(idle_teams.guard);
        idle_teams.end();
        idle_teams.exited = true;
    });
#if !defined(_WIN32)
    // A child process has none of the threads of its parent. Teams that other threads use during the fork are
    // not in the list, so the child does not see them.
    pthread_atfork(
        [] {
            idle_teams.guard.lock();
            idle_teams.end();
        },
        [] { idle_teams.guard.unlock(); }, [] { idle_teams.guard.unlock(); });
#endif
}

}  // namespace isodepth
